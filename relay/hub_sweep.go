package relay

import (
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// settle is how long after TAKEN a pair counts as under way although neither has registered yet.
const settle = 30 * time.Second

// sweep ends what has run out of time. It is called about four times a second.
func (h *hub) sweep(now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := &h.set.Limits
	for _, x := range h.lookups {
		age := time.Duration(now - x.born)
		switch {
		case x.state == lobbyOpen && age >= l.CodeTime:
			h.expire(now, x)
		case x.state == lobbyOpen && x.away != 0 && time.Duration(now-x.away) >= l.HostAway:
			h.close(now, x, rendezvous.CodeGone)
		case x.state == lobbyOpen && h.draining && len(x.runs) == 0:
			h.closeForDrain(now, x)
		case x.state == lobbyTaken && age >= l.CodeTime, x.state == lobbyExpired && age >= 2*l.CodeTime:
			delete(h.lookups, x.lookup)
		case x.state == lobbyOpen:
			for _, r := range append([]*run(nil), x.runs...) {
				if time.Duration(now-r.born) >= l.RunTime {
					h.endRun(now, r, rendezvous.CodeRunEnded, 0)
				}
			}
		}
	}
	for c := range h.clients {
		if c.idle != 0 && !c.finished && time.Duration(now-c.idle) >= l.HeaderTimeout {
			c.finished = true
			c.finish()
		}
	}
}

// expire ends a lobby nobody came to. The host keeps its connection and may ask for another code.
func (h *hub) expire(now int64, l *lobby) {
	host := l.host
	h.retire(now, l, rendezvous.CodeExpired)
	if host != nil {
		h.tell(host, rendezvous.CodeExpired, 0)
	}
	l.state = lobbyExpired
	if len(h.lookups)-h.open > h.set.Limits.MaxLobbies {
		delete(h.lookups, l.lookup)
	}
	h.count.expired.Add(1)
	h.log.at(zerolog.DebugLevel, evLobbyEnd).Str("lobby", l.lookup.String()).Str("why", "expired").Send()
}

func (h *hub) closeForDrain(now int64, l *lobby) {
	host := l.host
	h.close(now, l, rendezvous.CodeDraining)
	if host != nil {
		h.end(host, rendezvous.CodeDraining, drainRetry)
	}
}

// drain refuses new lobbies and joins from now on. Waiting hosts are told; runs under way may end.
func (h *hub) drain(now int64) {
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	h.sweep(now)
}

// busy returns how many lobbies must not be cut off: runs under way, and pairs that may not have registered yet.
func (h *hub) busy(now int64) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.resumes {
		if len(l.runs) > 0 {
			n++
		}
	}
	for _, l := range h.channels {
		if time.Duration(now-l.taken) < settle {
			n++
		}
	}
	return n
}

// closeAll tells everybody that the relay ends and finishes every connection.
func (h *hub) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		h.end(c, rendezvous.CodeDraining, drainRetry)
	}
}

// hubGauges is a snapshot for the metrics.
type hubGauges struct{ conns, open, runs, pairs int }

func (h *hub) gauges() (g hubGauges) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g.conns, g.open, g.pairs = len(h.clients), h.open, len(h.channels)
	for _, l := range h.resumes {
		g.runs += len(l.runs)
	}
	return g
}
