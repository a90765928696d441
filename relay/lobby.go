package relay

import (
	"net/netip"
	"slices"

	"backstep/natpunch/rendezvous"
)

// maxLobbies keeps at least three of four lookups unused, so that drawing one takes few tries.
const maxLobbies = 27 * 27 * 27 * 27 / 4

type lobbyState uint8

const (
	lobbyOpen    lobbyState = iota // the code waits for its opponent
	lobbyTaken                     // two players found each other; the code answers "full" until its time is over
	lobbyExpired                   // nobody came; the code answers "expired" for as long again
)

// lobby is one code. It is guarded by the lock of its hub.
type lobby struct {
	id     rendezvous.LobbyID
	lookup rendezvous.Lookup
	resume rendezvous.ResumeToken
	source netip.Prefix
	state  lobbyState
	born   int64
	taken  int64
	away   int64 // since when the host's connection is lost, 0 if it is there
	host   *client
	runs   []*run // open, oldest first; after TAKEN the one that took it
	last   uint32 // run number
	starts bucket

	channel uint32 // once taken
}

type runStage uint8

const (
	stageJoined runStage = iota // RUN is sent
	stageShareA
	stageShareB
	stageConfA
	stageTaken
)

// run is one attempt of a joiner.
type run struct {
	id     uint32
	lobby  *lobby
	joiner *client
	nonce  rendezvous.Nonce
	born   int64
	stage  runStage
}

func (l *lobby) run(id uint32) *run {
	for _, r := range l.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (l *lobby) remove(r *run) {
	l.runs = slices.DeleteFunc(l.runs, func(x *run) bool { return x == r })
}

// oldest returns the run that makes room for a new one: the oldest that has not confirmed, because a run in which the joiner
// has answered is about to end by itself; if all have, the oldest.
func (l *lobby) oldest() *run {
	for _, r := range l.runs {
		if r.stage < stageShareB {
			return r
		}
	}
	return l.runs[0]
}

// of returns the open runs of a source, oldest first.
func (l *lobby) of(source netip.Prefix) (out []*run) {
	for _, r := range l.runs {
		if r.joiner.source == source {
			out = append(out, r)
		}
	}
	return out
}
