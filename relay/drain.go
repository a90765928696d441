package relay

import (
	"time"

	"github.com/rs/zerolog"
)

const (
	// drainSilent is how long both sides may be silent before a match counts as over: also one that has found a direct path
	// sends a copy over the relay every second. A side whose computer sleeps is waited for as long as the other one is here.
	drainSilent = 5 * time.Second
	// goodbyeTime is how long clients have to answer the goodbye of a relay that ends.
	goodbyeTime = time.Second
)

// drain waits until no match needs this relay, the drain limit is over, or the relay is closed.
func (s *Server) drain() {
	s.state.Store(stateDraining)
	start := s.set.Now()
	now := s.clock.mono()
	s.hub.drain(now)
	running := func(now int64) int { return s.fwd.table.running(now, int64(drainSilent), s.fwd.silent) }
	s.log.at(zerolog.InfoLevel, evDrain).Int("running", running(now)).Dur("limit", s.set.DrainLimit).
		Msg("no new lobbies; running matches go on")
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for s.set.Now().Sub(start) < s.set.DrainLimit {
		now := s.clock.mono()
		if running(now) == 0 && s.hub.busy(now) == 0 {
			return
		}
		select {
		case <-t.C:
		case <-s.force:
			return
		}
	}
}

// goodbye closes the lobby connections in an orderly way, as far as the clients answer in time.
func (s *Server) goodbye() {
	s.hub.closeAll()
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for end := time.Now().Add(goodbyeTime); time.Now().Before(end) && s.hub.gauges().conns > 0; {
		<-t.C
	}
}
