package relay

import (
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// hub holds lobbies, runs and lobby connections. Every method takes its lock, does little and never waits for a network, so
// one lock is enough for far more lobbies than fit. Time is handed in.
type hub struct {
	set       *settings
	secret    secret
	clock     *clock
	log       *events
	broke     atomic.Bool // the egress budget has nothing left for new lobbies
	held      func(channel uint32) bool
	endpoints func(reached ...netip.AddrPort) []netip.AddrPort
	count     hubStats

	mu       sync.Mutex
	draining bool
	clients  map[*client]struct{}
	sources  map[netip.Prefix]*sourceUse
	lookups  map[rendezvous.Lookup]*lobby
	resumes  map[rendezvous.ResumeToken]*lobby
	channels map[uint32]*lobby // of taken lobbies whose players are still here
	open     int
	guesses  *sourceTable
	all      bucket
	allRate  rate
	msgRate  rate
	starts   *sourceTable
	runRate  rate
}

// sourceUse counts what a source holds, so that counting is not searching.
type sourceUse struct{ conns, lobbies, tunnels int }

// hubStats is what the metrics show of the lobby.
type hubStats struct {
	messages  [16]atomic.Uint64 // by message type
	errors    [16]atomic.Uint64 // by error code
	opened    atomic.Uint64
	resumed   atomic.Uint64
	taken     atomic.Uint64
	expired   atomic.Uint64
	closed    atomic.Uint64
	runs      atomic.Uint64
	guesses   atomic.Uint64 // FAIL
	unknown   atomic.Uint64 // lookups that led nowhere
	slow      atomic.Uint64 // connections closed because their queue was full or a write timed out
	forbidden atomic.Uint64 // Origin
	denied    atomic.Uint64 // token
	crowded   atomic.Uint64 // connections refused at accept
}

func newHub(set *settings, sec secret, c *clock, log *events) *hub {
	l := &set.Limits
	return &hub{
		set: set, secret: sec, clock: c, log: log,
		held:      func(uint32) bool { return false },
		endpoints: func(r ...netip.AddrPort) []netip.AddrPort { return r },
		clients:   make(map[*client]struct{}),
		sources:   make(map[netip.Prefix]*sourceUse),
		lookups:   make(map[rendezvous.Lookup]*lobby),
		resumes:   make(map[rendezvous.ResumeToken]*lobby),
		channels:  make(map[uint32]*lobby),
		guesses:   newSourceTable(refill(l.GuessBurst, l.GuessRefill)),
		allRate:   perSecond(l.GuessesPerSec, 1),
		msgRate:   perSecond(l.MessagesPerSec, 1),
		starts:    newSourceTable(perSecond(l.SourceRunStarts, 5)),
		runRate:   perSecond(l.RunStarts, 1),
	}
}

func (h *hub) use(p netip.Prefix) *sourceUse {
	u := h.sources[p]
	if u == nil {
		u = &sourceUse{}
		h.sources[p] = u
	}
	return u
}

func (h *hub) unuse(p netip.Prefix, conns, lobbies int) {
	u := h.use(p)
	u.conns -= conns
	u.lobbies -= lobbies
	if *u == (sourceUse{}) {
		delete(h.sources, p)
	}
}

// admit makes room for a connection of a source, if the source has room. It is given back by leave or dismiss.
func (h *hub) admit(p netip.Prefix) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u := h.use(p); u.conns < h.set.Limits.ConnsPerSource {
		u.conns++
		return true
	}
	return false
}

// dismiss gives the room of a connection that never entered back.
func (h *hub) dismiss(p netip.Prefix) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unuse(p, 1, 0)
}

// admitTunnel makes room for a tunnel of a source, if the source has room. It is given back by dismissTunnel.
func (h *hub) admitTunnel(p netip.Prefix) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.use(p)
	if u.tunnels < h.set.Limits.TunnelsPerSource {
		u.tunnels++
		return true
	}
	return false
}

func (h *hub) dismissTunnel(p netip.Prefix) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.use(p).tunnels--
	h.unuse(p, 0, 0)
}

// enter takes an admitted connection in.
func (h *hub) enter(now int64, c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = struct{}{}
	c.idle = now
	if h.set.StunOnly {
		h.end(c, rendezvous.CodeStunOnly, 0)
	}
}

// leave takes a connection out. clean says that the client said goodbye.
func (h *hub) leave(now int64, c *client, clean bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.clients[c]; !ok {
		return
	}
	delete(h.clients, c)
	h.unuse(c.source, 1, 0)
	h.release(now, c, clean)
}

// release takes the client's role away and does to the others what follows from it.
func (h *hub) release(now int64, c *client, clean bool) {
	if r := c.run; r != nil {
		h.dropRun(now, r)
		if r.lobby.state == lobbyTaken {
			h.part(now, r.lobby)
		}
	}
	l := c.lobby
	if l == nil {
		return
	}
	c.lobby, c.idle, l.host = nil, now, nil
	switch {
	case l.state == lobbyTaken:
		h.part(now, l)
	case clean:
		h.close(now, l, rendezvous.CodeGone)
	default:
		// The host has lost its half of every run with its connection.
		l.away = now
		for _, r := range append([]*run(nil), l.runs...) {
			h.endRun(now, r, rendezvous.CodeAway, awayRetry)
		}
	}
}

const (
	// awayRetry is what a joiner is told to wait while the host's connection is lost.
	awayRetry = 2 * time.Second
	// linger is how long the one who stays keeps the connection after the other has left a taken lobby.
	linger = time.Minute
)

// part ends what is left of a pair after one of the two has gone. The other is told and keeps its connection for a while.
func (h *hub) part(now int64, l *lobby) {
	delete(h.channels, l.channel)
	later := now + int64(linger)
	if c := l.host; c != nil {
		l.host, c.lobby, c.idle = nil, nil, later
		h.tell(c, rendezvous.CodeGone, 0)
	}
	for _, r := range append([]*run(nil), l.runs...) {
		h.dropRun(later, r)
		h.tell(r.joiner, rendezvous.CodeGone, 0)
	}
}

// tell sends an error that the client may answer with another request; without one the sweep closes the connection.
func (h *hub) tell(c *client, code rendezvous.ErrorCode, retry time.Duration) {
	h.count.errors[code&15].Add(1)
	secs := min((retry+time.Second-1)/time.Second, 65535)
	c.enqueue(rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: code, Retry: uint16(secs)}))
}

// end sends an error and closes the connection.
func (h *hub) end(c *client, code rendezvous.ErrorCode, retry time.Duration) {
	if c.finished {
		return
	}
	h.tell(c, code, retry)
	c.finished = true
	c.finish()
}

// dropRun removes a run; its joiner is left without a role.
func (h *hub) dropRun(now int64, r *run) {
	r.lobby.remove(r)
	r.joiner.run, r.joiner.idle = nil, now
}

// endRun removes a run and tells its joiner why.
func (h *hub) endRun(now int64, r *run, code rendezvous.ErrorCode, retry time.Duration) {
	h.dropRun(now, r)
	h.tell(r.joiner, code, retry)
}

// close forgets an open lobby. Its lookup is free again.
func (h *hub) close(now int64, l *lobby, code rendezvous.ErrorCode) {
	h.retire(now, l, code)
	delete(h.lookups, l.lookup)
	h.count.closed.Add(1)
	h.log.at(zerolog.DebugLevel, evLobbyEnd).Str("lobby", l.lookup.String()).Str("why", code.String()).Send()
}

// retire ends an open lobby's life as an offer: no resume, no runs, no place among those of its source.
func (h *hub) retire(now int64, l *lobby, code rendezvous.ErrorCode) {
	delete(h.resumes, l.resume)
	h.unuse(l.source, 0, 1)
	h.open--
	for _, r := range append([]*run(nil), l.runs...) {
		h.endRun(now, r, code, 0)
	}
	if c := l.host; c != nil {
		l.host, c.lobby, c.idle = nil, nil, now
	}
}

// drawLookup returns a lookup nobody uses, drawn without bias.
func (h *hub) drawLookup() rendezvous.Lookup {
	for {
		var l rendezvous.Lookup
		for i := range l {
			l[i] = rendezvous.Alphabet[drawBelow(byte(len(rendezvous.Alphabet)))]
		}
		if h.lookups[l] == nil {
			return l
		}
	}
}

// drawBelow returns a random number below n by rejection.
func drawBelow(n byte) byte {
	limit := byte(256 / int(n) * int(n)) // 243 for 27 symbols
	var b [1]byte
	for {
		rand.Read(b[:])
		if b[0] < limit {
			return b[0] % n
		}
	}
}

// drawChannel returns a channel nobody holds.
func (h *hub) drawChannel() uint32 {
	for {
		var b [4]byte
		rand.Read(b[:])
		c := binary.LittleEndian.Uint32(b[:])
		if c != 0 && h.channels[c] == nil && !h.held(c) {
			return c
		}
	}
}
