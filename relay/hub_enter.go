package relay

import (
	"crypto/rand"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// drainRetry is what a draining relay tells clients to wait: enough for a restart.
const drainRetry = 30 * time.Second

// hostMsg opens a lobby, replaces the one the connection holds, or takes a lost one back.
func (h *hub) hostMsg(now int64, c *client, m *rendezvous.HostMsg) {
	switch {
	case m.Version != rendezvous.Version:
		h.end(c, rendezvous.CodeVersion, 0)
		return
	case h.draining:
		h.end(c, rendezvous.CodeDraining, drainRetry)
		return
	case h.broke.Load():
		h.end(c, rendezvous.CodeStunOnly, 0)
		return
	case c.lobby != nil && c.lobby.state == lobbyTaken:
		h.end(c, rendezvous.CodeMalformed, 0)
		return
	}
	l := c.lobby
	if m.Resume != (rendezvous.ResumeToken{}) {
		l = h.resumes[m.Resume]
		if l == nil {
			h.tell(c, rendezvous.CodeResume, 0)
			return
		}
		h.takeBack(now, c, l)
	} else {
		if l != nil {
			h.close(now, l, rendezvous.CodeGone)
		}
		if l = h.openLobby(now, c); l == nil {
			return
		}
	}
	ttl := max(0, h.set.Limits.CodeTime-time.Duration(now-l.born)) / time.Second
	c.enqueue(rendezvous.AppendCode(nil, &rendezvous.CodeMsg{Lobby: l.id, Lookup: l.lookup, Resume: l.resume, TTL: uint16(ttl)}))
}

// takeBack gives a lobby to the connection that knew its token; the newest wins.
func (h *hub) takeBack(now int64, c *client, l *lobby) {
	if c.lobby == l {
		return
	}
	if c.lobby != nil {
		h.close(now, c.lobby, rendezvous.CodeGone)
	}
	if old := l.host; old != nil {
		h.release(now, old, false)
		h.end(old, rendezvous.CodeGone, 0)
	}
	l.host, l.away = c, 0
	c.lobby, c.idle = l, 0
	h.count.resumed.Add(1)
}

func (h *hub) openLobby(now int64, c *client) *lobby {
	if h.use(c.source).lobbies >= h.set.Limits.LobbiesPerSource {
		// A host that crashed and came back must not lock itself out.
		old := h.abandoned(c)
		if old == nil {
			h.tell(c, rendezvous.CodeLobbies, time.Minute)
			return nil
		}
		h.close(now, old, rendezvous.CodeGone)
	}
	if h.open >= h.set.Limits.MaxLobbies {
		h.tell(c, rendezvous.CodeBusy, time.Minute)
		return nil
	}
	l := &lobby{source: c.source, born: now, host: c, lookup: h.drawLookup()}
	rand.Read(l.id[:])
	rand.Read(l.resume[:])
	h.lookups[l.lookup] = l
	h.resumes[l.resume] = l
	h.use(l.source).lobbies++
	h.open++
	c.lobby, c.idle = l, 0
	h.count.opened.Add(1)
	h.log.at(zerolog.InfoLevel, evLobbyOpen).Str("lobby", l.lookup.String()).Str("host", h.log.addr(c.addr)).Send()
	return l
}

// abandoned returns the lobby of the client's source whose host has been away longest, if any.
func (h *hub) abandoned(c *client) (out *lobby) {
	for _, l := range h.resumes {
		if l.source == c.source && l.away != 0 && (out == nil || l.away < out.away) {
			out = l
		}
	}
	return out
}

// joinMsg starts a run. A source that has used up its failed tries is told to wait before the lookup is even looked at: a
// right guess must not be told from a wrong one.
func (h *hub) joinMsg(now int64, c *client, m *rendezvous.JoinMsg) {
	if m.Version != rendezvous.Version {
		h.end(c, rendezvous.CodeVersion, 0)
		return
	}
	if h.draining {
		h.end(c, rendezvous.CodeDraining, drainRetry)
		return
	}
	if h.broke.Load() {
		h.end(c, rendezvous.CodeStunOnly, 0)
		return
	}
	if w := h.guesses.wait(now, c.addr); w > 0 {
		h.tell(c, rendezvous.CodeSlowDown, time.Duration(w))
		h.refused(c, "guesses")
		return
	}
	if w := h.all.wait(now, h.allRate, 1); w > 0 {
		h.tell(c, rendezvous.CodeBusy, time.Duration(w))
		h.refused(c, "guesses of all")
		return
	}
	l := h.lookups[m.Lookup]
	code := rendezvous.CodeUnknown
	if l != nil {
		switch l.state {
		case lobbyTaken:
			code = rendezvous.CodeFull
		case lobbyExpired:
			code = rendezvous.CodeExpired
		}
	}
	if l == nil || l.state != lobbyOpen {
		h.charge(now, c)
		h.count.unknown.Add(1)
		h.tell(c, code, 0)
		return
	}
	if l.host == nil {
		// Whoever waits for the host keeps the connection; the lobby's own end bounds that.
		c.idle = now
		h.tell(c, rendezvous.CodeAway, awayRetry)
		return
	}
	mine := l.of(c.source)
	full := len(mine) >= h.set.Limits.RunsPerSource
	if full && mine[0].stage >= stageShareB {
		// The host has this one's guess and may be taking it now: to end it would cost both their match, and the host its code.
		h.tell(c, rendezvous.CodeBusy, time.Second)
		return
	}
	// Every run costs the host a message; one who floods a lobby with runs must not use the host's budget up, nor the turn of
	// others.
	if !h.starts.take(now, c.addr) {
		h.tell(c, rendezvous.CodeSlowDown, time.Second)
		return
	}
	if w := l.starts.wait(now, h.runRate, 1); w > 0 {
		h.tell(c, rendezvous.CodeBusy, time.Duration(w))
		return
	}
	l.starts.take(now, h.runRate, 1)
	if full {
		h.endRun(now, mine[0], rendezvous.CodeRunEnded, time.Second)
	}
	if len(l.runs) >= h.set.Limits.RunsPerLobby {
		h.endRun(now, l.oldest(), rendezvous.CodeRunEnded, time.Second)
	}
	l.last++
	r := &run{id: l.last, lobby: l, joiner: c, nonce: m.NonceJ, born: now}
	l.runs = append(l.runs, r)
	c.run, c.idle = r, 0
	h.count.runs.Add(1)
	l.host.enqueue(rendezvous.AppendRun(nil, &rendezvous.RunMsg{Run: r.id, NonceJ: r.nonce}))
}

func (h *hub) refused(c *client, why string) {
	h.log.at(zerolog.WarnLevel, evRefused).Str("why", why).Str("source", h.log.addr(c.addr)).Send()
}
