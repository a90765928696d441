package relay

import (
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// message handles one message of a client. b is kept if it is passed on and must not change afterwards.
func (h *hub) message(now int64, c *client, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.finished {
		return
	}
	if !c.messages.take(now, h.msgRate, 1) {
		h.end(c, rendezvous.CodeSlowDown, time.Second)
		return
	}
	t, err := rendezvous.TypeOf(b)
	if err != nil || len(b) > h.set.Limits.MessageBytes {
		h.end(c, rendezvous.CodeMalformed, 0)
		return
	}
	h.count.messages[t&15].Add(1)
	ok := false
	switch t {
	case rendezvous.TypeHost:
		var m rendezvous.HostMsg
		if ok = rendezvous.ParseHost(b, &m) == nil && c.run == nil; ok {
			h.hostMsg(now, c, &m)
		}
	case rendezvous.TypeJoin:
		var m rendezvous.JoinMsg
		if ok = rendezvous.ParseJoin(b, &m) == nil && c.run == nil && c.lobby == nil; ok {
			h.joinMsg(now, c, &m)
		}
	case rendezvous.TypeShareA:
		var m rendezvous.ShareAMsg
		ok = rendezvous.ParseShareA(b, &m) == nil && h.toJoiner(c, m.Run, stageJoined, stageShareA, b)
	case rendezvous.TypeShareB:
		var m rendezvous.ShareBMsg
		ok = rendezvous.ParseShareB(b, &m) == nil && h.toHost(c, m.Run, stageShareA, stageShareB, b)
	case rendezvous.TypeConfA:
		var m rendezvous.ConfAMsg
		ok = rendezvous.ParseConfA(b, &m) == nil && h.toJoiner(c, m.Run, stageShareB, stageConfA, b)
	case rendezvous.TypeTaken:
		var m rendezvous.TakenMsg
		ok = rendezvous.ParseTaken(b, &m) == nil && h.takenMsg(now, c, m.Run)
	case rendezvous.TypeFail:
		var m rendezvous.FailMsg
		ok = rendezvous.ParseFail(b, &m) == nil && h.failMsg(now, c, m.Run, b)
	case rendezvous.TypeSealed:
		var m rendezvous.SealedMsg
		ok = rendezvous.ParseSealed(b, &m) == nil &&
			(h.toJoiner(c, m.Run, stageTaken, stageTaken, b) || h.toHost(c, m.Run, stageTaken, stageTaken, b))
	}
	if !ok {
		h.log.at(zerolog.DebugLevel, evRefused).Str("why", "malformed").Uint8("type", uint8(t)).Str("source", h.log.addr(c.addr)).Send()
		h.end(c, rendezvous.CodeMalformed, 0)
	}
}

// lostRole reports whether the client is neither host nor joiner. What it says about a lobby or run then is swallowed: it may
// have lost it a moment ago and not know yet, and without one it gains nothing.
func (c *client) lostRole() bool { return c.lobby == nil && c.run == nil }

// toJoiner passes a host's message on, if the run is at the stage before it. A run that ended meanwhile swallows it: host and
// relay see its end at different times.
func (h *hub) toJoiner(c *client, id uint32, before, after runStage, b []byte) (ok bool) {
	l := c.lobby
	if l == nil {
		return c.lostRole()
	}
	if id == 0 || id > l.last {
		return false
	}
	r := l.run(id)
	if r == nil {
		return true
	}
	if r.stage != before {
		return false
	}
	r.stage = after
	r.joiner.enqueue(b)
	return true
}

// toHost passes a joiner's message on, if its run is at the stage before it.
func (h *hub) toHost(c *client, id uint32, before, after runStage, b []byte) (ok bool) {
	r := c.run
	if r == nil {
		return c.lostRole()
	}
	if r.id != id || r.stage != before || r.lobby.host == nil {
		return false
	}
	r.stage = after
	r.lobby.host.enqueue(b)
	return true
}

// openRun returns the run that a host decides about. Without one, ok says whether the host may not know yet that it ended.
func (c *client) openRun(id uint32) (r *run, ok bool) {
	l := c.lobby
	if l == nil {
		return nil, c.lostRole()
	}
	if l.state != lobbyOpen || id == 0 || id > l.last {
		return nil, false
	}
	return l.run(id), true
}

// failMsg ends a run whose joiner guessed wrong, and charges the guess to the joiner's source.
func (h *hub) failMsg(now int64, c *client, id uint32, b []byte) bool {
	r, ok := c.openRun(id)
	if r == nil {
		return ok
	}
	h.charge(now, r.joiner)
	h.count.guesses.Add(1)
	r.joiner.enqueue(b)
	h.dropRun(now, r)
	return true
}

func (h *hub) charge(now int64, c *client) {
	h.guesses.charge(now, c.addr)
	h.all.take(now, h.allRate, 1)
}

// takenMsg uses the code up and allots the session.
func (h *hub) takenMsg(now int64, c *client, id uint32) bool {
	l := c.lobby
	r, ok := c.openRun(id)
	switch {
	case r == nil && ok && l != nil:
		// The joiner left between its confirmation and this; the code is not used up.
		h.tell(c, rendezvous.CodeGone, 0)
		return true
	case r == nil:
		return ok
	}
	if r.stage != stageConfA {
		return false
	}
	for _, x := range append([]*run(nil), l.runs...) {
		if x != r {
			h.endRun(now, x, rendezvous.CodeFull, 0)
		}
	}
	delete(h.resumes, l.resume)
	h.unuse(l.source, 0, 1)
	h.open--
	l.state, l.taken, r.stage = lobbyTaken, now, stageTaken
	if len(h.lookups)-h.open > h.set.Limits.MaxLobbies {
		delete(h.lookups, l.lookup)
	}
	channel := h.drawChannel()
	h.channels[channel], l.channel = l, channel
	s := rendezvous.SessionMsg{
		Run: r.id, Lobby: l.id, RelayID: h.secret.id, Channel: channel,
		Expiry:    h.clock.unix(now) + uint32(h.set.Limits.SessionTime/time.Second),
		Endpoints: h.endpoints(c.reached, r.joiner.reached),
	}
	for side, x := range [2]*client{c, r.joiner} {
		s.Side = rendezvous.Side(side)
		s.RegKey = rendezvous.DeriveRegKey(&h.secret.key, l.id, channel, s.Side, s.Expiry)
		x.enqueue(rendezvous.AppendSession(nil, &s))
	}
	h.count.taken.Add(1)
	h.log.at(zerolog.InfoLevel, evLobbyTaken).Str("lobby", l.lookup.String()).Str("host", h.log.addr(c.addr)).
		Str("joiner", h.log.addr(r.joiner.addr)).Send()
	return true
}
