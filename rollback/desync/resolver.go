package desync

import (
	"bytes"
	"errors"
)

const (
	// RecoveryFrames is how far before the first differing frame a re-simulation begins at least.
	RecoveryFrames = 4
	// MaxRounds is how many differences of a match are recovered from by re-simulation alone.
	MaxRounds = 3
	// MaxOpened is how often a match may be stopped at all, differences that turn out to be none included: nobody may
	// stop it for ever by crying wolf.
	MaxOpened = 16

	patience       = 5_000_000  // µs without a step of the other side
	answerPatience = 20_000_000 // µs for the guest's player to decide
	stopLimit      = 60_000_000 // µs for which a match is stopped in all, the player's time to decide not counted
)

// Side is the game as a Resolver sees it. Labels are those of states; -1 is the one before frame 0.
type Side interface {
	// Newest is the label of the newest state. While a Resolver is busy no new frame is stepped.
	Newest() int32
	// Settled is the newest label whose state can no longer change. It goes on rising while the Resolver is busy, as
	// inputs arrive that are on their way, up to Newest at most.
	Settled() int32
	// Agreed is the newest label at which both states are known to have been equal.
	Agreed() int32
	// Hash is that of a settled state, ok is false if it is not kept.
	Hash(label int32) (hash uint64, ok bool)
	// AppendState appends the encoding of a settled state; ok is false if it is not kept.
	AppendState(b []byte, label int32) (state []byte, ok bool)
	// Replay steps everything after a label again, from the state of that label that is kept. What was agreed and what
	// differed later is forgotten. ok is false if that state is not kept; then nothing has changed.
	Replay(label int32) (ok bool)
	// Adopt puts an encoded state in the place of a label's and steps everything later again.
	Adopt(label int32, state []byte) error
}

// Answer is what the guest's player says to an offered state.
type Answer uint8

const (
	Undecided Answer = iota
	Yes
	No
)

// Config is what a Resolver works with.
type Config struct {
	Side   Side
	Host   bool
	Ranked bool
	Build  string // name of this build, cut off after MaxBuild bytes
	// Send carries a message to the other side, reliably and in order. It returns an error if it has no room now.
	Send func(msg []byte) error
	// Accept is asked again and again whether the host's state is accepted; nil means no.
	Accept func() Answer
}

// Phase is where a Resolver stands.
type Phase uint8

const (
	Idle Phase = iota
	Meeting
	Searching
	Comparing
	Replaying
	Offering
	Adopting
	Failed
)

// Result is how a round ended.
type Result uint8

const (
	Pending   Result = iota // not yet
	Vanished                // nothing differs any more
	Recovered               // the same after a re-simulation
	Adopted                 // the guest plays on with the host's state
	Differs                 // ranked, or the one offer is used: the match is over
	Declined                // the guest declined the state, or did not answer
	Silent                  // the other side did not take part
)

var resultText = [...]string{
	"not resolved yet", "nothing differs any more", "equal again after a re-simulation", "the guest went on with the host's state",
	"different again after a re-simulation", "the host's state was declined", "the other side took no part in the recovery",
}

func (r Result) String() string {
	if int(r) >= len(resultText) {
		return "unknown"
	}
	return resultText[r]
}

// Errors of Receive. Neither changes anything.
var (
	// ErrRound: a message of another round, or out of place.
	ErrRound = errors.New("desync: a message out of place")
)

// Resolver is one side. Make it with New. While Busy, call Step once a tick.
type Resolver struct {
	cfg    Config
	phase  Phase
	round  uint8
	result Result
	used   bool // the one offer of the match was made
	since  int64

	stopped int64 // µs of all rounds, up to stepped
	stepped int64

	newest     [2]int32 // ours, theirs
	agreed     [2]int32
	build      string
	met        bool
	top        int32 // label both can reach
	low, high  int32
	hash       uint64 // theirs at high, once it is known to differ
	probed     bool
	early      *Message // a PROBE that came while Meeting
	state      []byte   // ours at the label that is exchanged
	sent       int
	theirs     []byte
	theirsDone bool
	awaits     int32 // label of the parts that are to come
	said       bool
	mine       uint64 // hash after the re-simulation
	heard      bool
	other      uint64
	offered    bool
	evidence   *Evidence

	queue []byte // a message that had no room yet
	out   Message
	in    Message
}

// New makes a Resolver that is Idle.
func New(cfg Config) *Resolver {
	cfg.Build = cfg.Build[:min(len(cfg.Build), MaxBuild)]
	return &Resolver{cfg: cfg}
}

// Busy says that the game must stand still: no new frame may be stepped.
func (r *Resolver) Busy() bool { return r.phase != Idle }

// Phase, Round and Result tell where it stands. Result is that of the newest round.
func (r *Resolver) Phase() Phase   { return r.phase }
func (r *Resolver) Round() int     { return int(r.round) }
func (r *Resolver) Result() Result { return r.result }

// Evidence is what was found in the first round in which the states were compared, nil before. Fields only the owner of
// the game knows are for it to fill in.
func (r *Resolver) Evidence() *Evidence { return r.evidence }

// Offered says that the guest's player is to be asked now.
func (r *Resolver) Offered() bool { return r.phase == Offering && r.offered && !r.cfg.Host }

// Open begins a round at time now (µs): a hash differs. While Busy it does nothing; after MaxOpened rounds, and without a
// Side or Send, it fails.
func (r *Resolver) Open(now int64) {
	if r.phase != Idle {
		return
	}
	r.round++
	if r.round > MaxOpened {
		r.fail(Differs)
		return
	}
	if r.cfg.Side == nil || r.cfg.Send == nil {
		r.fail(Silent)
		return
	}
	r.phase, r.result, r.since, r.stepped = Meeting, Pending, now, now
	r.met, r.probed, r.early, r.queue = false, false, nil, nil
	r.newest[0], r.agreed[0] = r.cfg.Side.Newest(), r.cfg.Side.Agreed()
	r.out = Message{Kind: KindFound, Label: r.newest[0], Second: r.agreed[0], Body: []byte(r.cfg.Build)}
	r.send()
}

// send sends r.out, or keeps it until there is room. One message waits at most; see ready.
func (r *Resolver) send() {
	r.out.Round = r.round
	msg := AppendMessage(nil, &r.out)
	if r.cfg.Send(msg) != nil {
		r.queue = msg
	}
}

// ready tries to send what waits and reports whether another message may be made.
func (r *Resolver) ready() bool {
	if r.queue != nil && r.cfg.Send(r.queue) == nil {
		r.queue = nil
	}
	return r.queue == nil
}

// Receive takes a message of the other side. An error is for counting.
func (r *Resolver) Receive(msg []byte, now int64) error {
	m := &r.in
	if err := ParseMessage(msg, m); err != nil {
		return err
	}
	if m.Kind == KindFound && r.phase == Idle && m.Round == r.round+1 {
		if r.Open(now); r.phase == Failed {
			return nil
		}
	}
	if m.Round != r.round || r.phase == Idle || r.phase == Failed {
		return ErrRound
	}
	switch {
	case m.Kind == KindFound && r.phase == Meeting && !r.met:
		r.met = true
		r.newest[1], r.agreed[1], r.build = m.Label, m.Second, string(m.Body)
	case m.Kind == KindProbe && r.phase == Meeting && r.met && r.early == nil:
		early := *m
		r.early = &early
	case m.Kind == KindProbe && r.phase == Searching && m.Label == r.low && m.Second == r.high && r.probed:
		r.narrow(m, now)
	case m.Kind == KindPart && (r.phase == Comparing || r.phase == Adopting && !r.cfg.Host) && m.Label == r.awaits && !r.theirsDone:
		if err := r.part(m); err != nil {
			return err
		}
	case m.Kind == KindReplayed && (r.phase == Replaying || r.phase == Adopting && r.cfg.Host) && m.Label == r.top && !r.heard:
		r.heard, r.other = true, m.Hash
	case m.Kind == KindOffer && r.phase == Offering && !r.cfg.Host && m.Label == r.top && !r.offered:
		r.offered = true
	case m.Kind == KindAnswer && r.phase == Offering && r.cfg.Host && r.offered:
		if !m.Yes {
			r.fail(Declined)
			return nil
		}
		r.exchange(Adopting, r.top)
	default:
		return ErrRound
	}
	r.since = now
	r.Step(now)
	return nil
}

func (r *Resolver) part(m *Message) error {
	if int(m.Offset) != len(r.theirs) {
		return ErrRound
	}
	r.theirs = append(r.theirs, m.Body...)
	r.theirsDone = len(r.theirs) == int(m.Total)
	return nil
}

// Step goes on as far as it can at time now.
func (r *Resolver) Step(now int64) {
	for before := Failed + 1; before != r.phase && r.ready(); {
		before = r.phase
		switch r.phase {
		case Meeting:
			r.meet(now)
		case Searching:
			r.probe()
		case Comparing:
			if r.parts() && r.theirsDone {
				r.found()
			}
		case Replaying:
			r.replayed()
		case Offering:
			r.offer()
		case Adopting:
			r.adopt()
		}
	}
	if r.phase == Idle || r.phase == Failed {
		return
	}
	if !(r.phase == Offering && r.offered) {
		r.stopped += max(now-r.stepped, 0)
	}
	r.stepped = now
	if r.stopped > stopLimit {
		r.fail(Silent)
		return
	}
	limit := int64(patience)
	if r.phase == Offering && r.offered {
		limit = answerPatience
	}
	if now-r.since > limit {
		if r.phase == Offering && r.offered {
			r.fail(Declined)
		} else {
			r.fail(Silent)
		}
	}
}

func (r *Resolver) fail(why Result) { r.phase, r.result = Failed, why }

// done ends a round. Hashes of before the re-simulation may have come late and differed, so both sides forget once more.
func (r *Resolver) done(how Result) {
	r.phase, r.result = Idle, how
	r.cfg.Side.Replay(r.top)
}

// meet waits until both can hash the same labels.
func (r *Resolver) meet(now int64) {
	r.top = min(r.newest[0], r.newest[1])
	if !r.met || r.cfg.Side.Settled() < r.top {
		return
	}
	r.low, r.high = min(r.agreed[0], r.agreed[1], r.top-1), r.top
	if r.high < 0 {
		// Nothing was stepped: there is nothing to differ.
		r.done(Vanished)
		return
	}
	r.phase = Searching
	if m := r.early; m != nil {
		r.probe()
		r.early = nil
		if m.Label == r.low && m.Second == r.high {
			r.narrow(m, now)
		}
	}
}

// probe sends our hashes of the labels in question, once.
func (r *Resolver) probe() {
	if r.probed {
		return
	}
	r.probed = true
	r.out = Message{Kind: KindProbe, Label: r.low, Second: r.high}
	r.fill(&r.out)
	r.send()
}

func (r *Resolver) fill(m *Message) {
	for i := range Probes(m.Label, m.Second) {
		if h, ok := r.cfg.Side.Hash(Probe(m.Label, m.Second, i)); ok {
			m.Hashes[i] = h
			m.Known |= 1 << i
		}
	}
}

// narrow compares the hashes of both sides.
func (r *Resolver) narrow(m *Message, now int64) {
	ours := Message{Label: r.low, Second: r.high}
	r.fill(&ours)
	n := Probes(r.low, r.high)
	low, high, differs := r.low, r.high, false
	for i := 0; i < n && !differs; i++ {
		if m.Known&ours.Known>>i&1 == 0 {
			continue
		}
		if label := Probe(r.low, r.high, i); m.Hashes[i] == ours.Hashes[i] {
			low = label
		} else {
			high, differs, r.hash = label, true, m.Hashes[i]
		}
	}
	r.since = now
	if !differs {
		// They met again, or the states that differed are gone.
		r.done(Vanished)
		return
	}
	whole := int(r.high-r.low) == n || low == r.low && high == r.high // nothing more can be learned
	r.low, r.high, r.probed = low, high, false
	if high-low > 1 && !whole {
		return
	}
	r.exchange(Comparing, high)
}

// exchange begins to send our state of a label, and to take theirs.
func (r *Resolver) exchange(phase Phase, label int32) {
	r.phase, r.awaits = phase, label
	r.sent, r.theirs, r.theirsDone, r.heard, r.said = 0, nil, false, false, false
	r.state, _ = r.cfg.Side.AppendState(nil, label)
	if len(r.state) > MaxState {
		r.state = nil
	}
}

// parts sends what is left of our state as far as there is room, and reports whether all is sent.
func (r *Resolver) parts() bool {
	for r.sent < len(r.state) || r.sent == 0 && len(r.state) == 0 && !r.said {
		if !r.ready() {
			return false
		}
		end := min(r.sent+MaxPart, len(r.state))
		r.out = Message{Kind: KindPart, Label: r.awaits, Total: uint32(len(r.state)), Offset: uint32(r.sent), Body: r.state[r.sent:end]}
		r.send()
		r.sent, r.said = end, true
	}
	return r.ready()
}

// found keeps the evidence and steps again from where both agreed.
func (r *Resolver) found() {
	if r.evidence == nil {
		r.evidence = r.collect()
	}
	r.phase, r.said, r.heard = Replaying, false, false
	base := max(min(r.low, r.high-RecoveryFrames), -1)
	if !r.cfg.Side.Replay(base) {
		r.cfg.Side.Replay(r.low)
	}
}

func (r *Resolver) replayed() {
	if r.cfg.Side.Settled() < r.top {
		return
	}
	r.tell()
	switch {
	case !r.heard:
	case r.other != r.mine || r.round > MaxRounds:
		r.phase, r.offered = Offering, false
		if r.cfg.Ranked || r.used {
			r.fail(Differs)
		}
	case r.ready():
		r.done(Recovered)
	}
}

// tell says once what the newest common label comes to now.
func (r *Resolver) tell() {
	if r.said {
		return
	}
	r.said = true
	r.mine, _ = r.cfg.Side.Hash(r.top)
	r.out = Message{Kind: KindReplayed, Label: r.top, Hash: r.mine}
	r.send()
}

// offer is the host's offer of its state, and the guest's answer. It is made once in a match.
func (r *Resolver) offer() {
	switch {
	case r.cfg.Host && !r.offered:
		r.offered, r.used = true, true
		r.out = Message{Kind: KindOffer, Label: r.top, Hash: r.mine}
		r.send()
	case r.offered && !r.cfg.Host:
		answer := No
		if r.cfg.Accept != nil {
			answer = r.cfg.Accept()
		}
		if answer == Undecided {
			return
		}
		r.used = true
		r.out = Message{Kind: KindAnswer, Yes: answer == Yes}
		r.send()
		if answer == No {
			r.fail(Declined)
			return
		}
		r.exchange(Adopting, r.top)
	}
}

// adopt sends the host's state, or takes it, and ends when the guest has the same hash.
func (r *Resolver) adopt() {
	side := r.cfg.Side
	if r.cfg.Host {
		if !r.parts() || !r.heard {
			return
		}
		if r.other != r.mine {
			r.fail(Differs)
			return
		}
		r.done(Adopted)
		return
	}
	if !r.theirsDone {
		return
	}
	if r.theirs != nil {
		err := side.Adopt(r.top, r.theirs)
		r.theirs = nil
		if err != nil {
			r.fail(Differs)
			return
		}
	}
	if side.Settled() < r.top {
		return
	}
	r.tell()
	switch {
	case r.mine != r.other:
		r.fail(Differs)
	case r.ready():
		r.done(Adopted)
	}
}

// collect makes the evidence of both states.
func (r *Resolver) collect() *Evidence {
	e := &Evidence{Host: r.cfg.Host, Ranked: r.cfg.Ranked, Agreed: r.low, Frame: r.high}
	ours, theirs := 0, 1
	if !r.cfg.Host {
		ours, theirs = 1, 0
	}
	e.Builds[ours], e.Builds[theirs] = r.cfg.Build, r.build
	e.Hashes[ours], _ = r.cfg.Side.Hash(r.high)
	e.Hashes[theirs] = r.hash
	e.States[ours], e.States[theirs] = bytes.Clone(r.state), bytes.Clone(r.theirs)
	e.Before, _ = r.cfg.Side.AppendState(nil, r.low)
	return e
}
