package relay

import (
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// event is the value of the key "event", which every log line of the relay has. The list is fixed, so that operators can
// filter and alert by it.
type event string

const (
	evStart      event = "start"       // the relay serves
	evListen     event = "listen"      // one address is bound
	evSecret     event = "secret"      // something about the secret file
	evAdmin      event = "admin"       // the admin listener
	evTLS        event = "tls"         // certificate loaded, renewed or refused
	evDrain      event = "drain"       // no new lobbies from here on
	evStop       event = "stop"        // the relay has ended
	evLobbyOpen  event = "lobby_open"  // a code was handed out
	evLobbyTaken event = "lobby_taken" // two players found each other
	evLobbyEnd   event = "lobby_end"   // a code died unused
	evRefused    event = "refused"     // a request was refused
	evBind       event = "bind"        // a side registered its address
	evProbe      event = "probe"       // the self-probe changed its answer
	evBudget     event = "budget"      // the month's egress
	evHTTP       event = "http"        // net/http complained
	evPanic      event = "panic"       // a bug
)

// events writes log lines. Repeats of an event are sampled: after 20 lines of one event within a minute the rest is counted,
// and the count rides on the next line. Safe for concurrent use.
type events struct {
	log  zerolog.Logger
	full bool // whole addresses
	now  func() time.Time

	mu    sync.Mutex
	kinds map[event]*repeats
}

type repeats struct {
	since   time.Time
	lines   int
	skipped int
}

const (
	linesPerMinute = 20
	sampleWindow   = time.Minute
)

func newEvents(set *settings) *events {
	return &events{log: set.Log, full: set.LogAddresses, now: set.Now, kinds: make(map[event]*repeats)}
}

// at starts a line, or returns nil (on which zerolog's methods do nothing) if the line is sampled away or below the level.
func (e *events) at(level zerolog.Level, ev event) *zerolog.Event {
	line := e.log.WithLevel(level)
	if !line.Enabled() {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.kinds[ev]
	if r == nil {
		r = &repeats{}
		e.kinds[ev] = r
	}
	now := e.now()
	if now.Sub(r.since) >= sampleWindow {
		r.since, r.lines = now, 0
	}
	if r.lines++; r.lines > linesPerMinute {
		r.skipped++
		return line.Discard()
	}
	line = line.Str("event", string(ev))
	if r.skipped > 0 {
		line = line.Int("skipped", r.skipped)
		r.skipped = 0
	}
	return line
}

// addr returns an address as logs may show it: the /24 or /48 it is in, unless whole addresses were asked for.
func (e *events) addr(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if e.full {
		return a.String()
	}
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return "unknown"
	}
	return p.String()
}
