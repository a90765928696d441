package relay

import (
	"runtime"

	"backstep/natpunch/rendezvous"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics reads the counters when it is scraped. No label names a lobby, an address or a code.
type metrics struct{ s *Server }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("backstep_relay_"+name, help, labels, nil)
}

var (
	descInfo      = desc("info", "Always 1; the labels say what runs.", "version", "goversion")
	descReady     = desc("serving", "1 while new lobbies are accepted, 0 before, while draining and after.")
	descReceived  = desc("received_datagrams_total", "UDP datagrams received, by kind.", "kind")
	descReceivedB = desc("received_bytes_total", "UDP payload bytes received, by kind.", "kind")
	descSent      = desc("sent_datagrams_total", "UDP datagrams sent, by kind.", "kind")
	descSentB     = desc("sent_bytes_total", "UDP payload bytes sent, by kind.", "kind")
	descDropped   = desc("dropped_datagrams_total", "UDP datagrams and tunnel frames not answered or not forwarded, by reason.", "reason")
	descOverflow  = desc("socket_dropped_datagrams_total", "UDP datagrams the system dropped because a socket's queue was full.")
	descWorkers   = desc("workers", "Sockets that serve UDP.")
	descEgress    = desc("month_egress_bytes", "Bytes sent this calendar month, IP and UDP headers included.")
	descBudget    = desc("month_egress_budget_bytes", "The budget of month_egress_bytes, 0 if there is none.")
	descTunnels   = desc("tunnels", "Tunnels, registered or not.")
	descTunIn     = desc("tunnel_received_frames_total", "Frames received through tunnels, by kind.", "kind")
	descTunInB    = desc("tunnel_received_bytes_total", "Bytes of frames received through tunnels, by kind.", "kind")
	descTunOut    = desc("tunnel_sent_frames_total", "Frames queued for tunnels, by kind; the drop reason tunnel_queue says how many were not sent.", "kind")
	descTunOutB   = desc("tunnel_sent_bytes_total", "Bytes of frames queued for tunnels, by kind.", "kind")
	descSessions  = desc("sessions", "Forwarding sessions in memory.")
	descRunning   = desc("running_sessions", "Forwarding sessions both sides of which were heard lately.")
	descBinds     = desc("bound_sides_total", "Registrations that bound a side for the first time.")
	descMoves     = desc("moved_sides_total", "Registrations that moved a side to another address.")
	descTCP       = desc("tcp_connections", "TCP connections, of any kind.")
	descConns     = desc("lobby_connections", "Lobby connections.")
	descOpen      = desc("open_lobbies", "Codes that wait for their opponent.")
	descRuns      = desc("open_runs", "Attempts to join under way.")
	descPairs     = desc("pairs", "Pairs that found each other and whose lobby still stands.")
	descMessages  = desc("lobby_messages_total", "Lobby messages received, by type.", "type")
	descErrors    = desc("lobby_errors_total", "Errors sent to lobby clients, by code.", "code")
	descEvents    = desc("lobby_events_total", "What happened to lobbies.", "event")
	descRefused   = desc("refused_connections_total", "Connections and requests refused, by reason.", "reason")
)

// Describe sends nothing: an unchecked collector may show new label values at any time.
func (m metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads every counter.
func (m metrics) Collect(ch chan<- prometheus.Metric) {
	s := m.s
	gauge := func(d *prometheus.Desc, v int) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	ch <- prometheus.MustNewConstMetric(descInfo, prometheus.GaugeValue, 1, s.set.Version, runtime.Version())
	serving := 0
	if s.state.Load() == stateServing {
		serving = 1
	}
	gauge(descReady, serving)
	t := s.totals()
	for k := range kinds {
		counter(descReceived, t.received[k], kindNames[k])
		counter(descReceivedB, t.receivedBytes[k], kindNames[k])
		counter(descSent, t.sent[k], kindNames[k])
		counter(descSentB, t.sentBytes[k], kindNames[k])
	}
	u := &s.tunnels
	for k := range kinds {
		counter(descTunIn, u.received[k].Load(), kindNames[k])
		counter(descTunInB, u.receivedBytes[k].Load(), kindNames[k])
		counter(descTunOut, u.sent[k].Load(), kindNames[k])
		counter(descTunOutB, u.sentBytes[k].Load(), kindNames[k])
	}
	gauge(descTunnels, int(u.open.Load()))
	for r := keep + 1; r < reasons; r++ {
		counter(descDropped, t.dropped[r], reasonNames[r])
	}
	counter(descBinds, t.binds)
	counter(descMoves, t.moves)
	counter(descOverflow, t.overflows)
	gauge(descWorkers, t.workers)
	ch <- prometheus.MustNewConstMetric(descEgress, prometheus.GaugeValue, float64(s.budget.spent()))
	ch <- prometheus.MustNewConstMetric(descBudget, prometheus.GaugeValue, float64(s.set.EgressBudget))
	sessions, running := s.fwd.table.count(s.clock.mono(), s.fwd.silent)
	gauge(descSessions, sessions)
	gauge(descRunning, running)
	gauge(descTCP, s.count.now())
	g := s.hub.gauges()
	gauge(descConns, g.conns)
	gauge(descOpen, g.open)
	gauge(descRuns, g.runs)
	gauge(descPairs, g.pairs)
	c := &s.hub.count
	for t, name := range typeNames {
		counter(descMessages, c.messages[t].Load(), name)
	}
	for code, name := range codeNames {
		counter(descErrors, c.errors[code].Load(), name)
	}
	counter(descEvents, c.opened.Load(), "opened")
	counter(descEvents, c.resumed.Load(), "resumed")
	counter(descEvents, c.runs.Load(), "run")
	counter(descEvents, c.guesses.Load(), "failed_guess")
	counter(descEvents, c.unknown.Load(), "failed_lookup")
	counter(descEvents, c.taken.Load(), "taken")
	counter(descEvents, c.expired.Load(), "expired")
	counter(descEvents, c.closed.Load(), "closed")
	counter(descRefused, c.forbidden.Load(), "origin")
	counter(descRefused, c.denied.Load(), "token")
	counter(descRefused, c.crowded.Load(), "crowded")
	counter(descRefused, c.slow.Load(), "slow_reader")
}

var typeNames = map[rendezvous.Type]string{
	rendezvous.TypeHost: "host", rendezvous.TypeJoin: "join", rendezvous.TypeShareA: "share_a",
	rendezvous.TypeShareB: "share_b", rendezvous.TypeConfA: "conf_a", rendezvous.TypeTaken: "taken",
	rendezvous.TypeSealed: "sealed", rendezvous.TypeFail: "fail",
}

var codeNames = map[rendezvous.ErrorCode]string{
	rendezvous.CodeVersion: "version", rendezvous.CodeUnknown: "unknown", rendezvous.CodeFull: "full",
	rendezvous.CodeExpired: "expired", rendezvous.CodeBusy: "busy", rendezvous.CodeSlowDown: "slow_down",
	rendezvous.CodeMalformed: "malformed", rendezvous.CodeDraining: "draining", rendezvous.CodeGone: "gone",
	rendezvous.CodeResume: "resume", rendezvous.CodeLobbies: "lobbies", rendezvous.CodeRunEnded: "run_ended",
	rendezvous.CodeStunOnly: "stun_only", rendezvous.CodeInternal: "internal", rendezvous.CodeAway: "away",
}

// totals is the sum of the stats of all sockets; drops and bindings are those of tunnels too.
type totals struct {
	received, receivedBytes, sent, sentBytes [kinds]uint64
	dropped                                  [reasons]uint64
	binds, moves, overflows                  uint64
	workers                                  int
}

func (s *Server) totals() (t totals) {
	for r := range reasons {
		t.dropped[r] = s.tunnels.dropped[r].Load()
	}
	t.binds, t.moves = s.tunnels.binds.Load(), s.tunnels.moves.Load()
	for _, e := range s.endpoints {
		for _, p := range e.ports() {
			for _, x := range p.socks {
				for k := range kinds {
					t.received[k] += x.stats.received[k].Load()
					t.receivedBytes[k] += x.stats.receivedBytes[k].Load()
					t.sent[k] += x.stats.sent[k].Load()
					t.sentBytes[k] += x.stats.sentBytes[k].Load()
				}
				for r := range reasons {
					t.dropped[r] += x.stats.dropped[r].Load()
				}
				t.binds += x.stats.binds.Load()
				t.moves += x.stats.moves.Load()
				t.overflows += x.io.overflows()
				t.workers++
			}
		}
	}
	return t
}

// registry is this relay's own: an embedder's metrics stay apart.
func (s *Server) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(metrics{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}
