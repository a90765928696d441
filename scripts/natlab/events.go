//go:build linux

package natlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"backstep/scripts/natlab/wiretap"
)

// Event is something that happens to a running match, and what the match must make of it.
type Event struct {
	Name     string
	A, B     string   // kinds of NAT
	Lab      []string // further commands of natlab.sh beforehand, words separated by spaces
	HostArgs []string
	Relayed  bool // wait for packets of the relay, not of a direct path, before it happens; of a tunnel if A blocks UDP
	Frames   int  // of the match; 600 if zero
	// Happen makes it happen.
	Happen func(ctx context.Context, l *Lab, v *Live) error
	Lasts  time.Duration // how long nothing can come through, whatever the programs do
	Outage time.Duration // at most so long nothing may come in beside that
	Path   string        // of both players at the end; empty if any will do
	Again  string        // a path that must be found again after it
}

func labDo(args ...string) func(context.Context, *Lab, *Live) error {
	return func(ctx context.Context, l *Lab, _ *Live) error { return l.Do(ctx, args...) }
}

// Restarted is how long a restarted relay is away.
const Restarted = 200 * time.Millisecond

func restart(ctx context.Context, _ *Lab, v *Live) error { return v.RestartRelay(ctx, Restarted) }

// Events are what happens to players' networks. The targets are the design's: 300 ms to the other path, half a second and two round
// trips to a new binding, 2 s to a relay that was restarted.
var Events = []Event{
	{Name: "direct path cut", A: "eim", B: "eim", Happen: labDo("cut", "a", "direct"), Outage: 300 * time.Millisecond, Path: "relay"},
	{Name: "NAT forgets a direct path", A: "eim", B: "eim", Happen: labDo("rebind", "a"), Outage: 500 * time.Millisecond, Again: "direct", Frames: 900},
	{Name: "NAT forgets a relayed path", A: "symfull", B: "symfull", Relayed: true, Happen: labDo("rebind", "a"), Outage: 500 * time.Millisecond, Path: "relay"},
	{Name: "relay restarted, match direct", A: "eim", B: "eim", Happen: restart, Outage: 100 * time.Millisecond, Path: "direct"},
	{Name: "relay restarted, match relayed", A: "symfull", B: "symfull", Relayed: true, Happen: restart, Lasts: Restarted, Outage: 1800 * time.Millisecond, Path: "relay"},
	{Name: "relay restarted, match in a tunnel", A: "udpblock", B: "eim", Relayed: true, Happen: restart, Lasts: Restarted, Outage: 1800 * time.Millisecond},
	{Name: "relay gone, match direct", A: "eim", B: "eim", Happen: func(_ context.Context, _ *Lab, v *Live) error {
		v.KillRelay()
		return nil
	}, Outage: 100 * time.Millisecond, Path: "direct"},
	{Name: "another address, match direct", A: "eim", B: "eim", Happen: labDo("readdress", "a", "7"), Outage: 500 * time.Millisecond, Again: "direct", Frames: 900},
	{Name: "another address, match relayed", A: "symfull", B: "symfull", Relayed: true, Happen: labDo("readdress", "a", "7"), Outage: 500 * time.Millisecond, Path: "relay"},
	{Name: "lobby lost, then NAT forgets", A: "eim", B: "eim", Happen: func(ctx context.Context, l *Lab, v *Live) error {
		if err := restart(ctx, l, v); err != nil {
			return err
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		return l.Do(ctx, "rebind", "a")
	}, Outage: 500 * time.Millisecond, Again: "direct", Frames: 1080},
	{Name: "interface lost for a second", A: "eim", B: "eim", Happen: func(ctx context.Context, l *Lab, _ *Live) error {
		if err := l.Do(ctx, "unplug", "a", "on"); err != nil {
			return err
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		return l.Do(ctx, "unplug", "a", "off")
	}, Lasts: 1200 * time.Millisecond, Outage: time.Second},
	{Name: "UDP blocked in the match", A: "symfull", B: "symfull", Relayed: true, Happen: labDo("nat", "a", "udpblock"), Outage: time.Second, Path: "tunnel/relay"},
	{Name: "asleep for 20 s", A: "eim", B: "eim", Happen: func(ctx context.Context, _ *Lab, v *Live) error {
		return v.Sleep(ctx, "host", 20*time.Second)
	}, Lasts: 20 * time.Second, Outage: time.Second},
}

// tunnel tells whether packets come in over TCP at times.
func (e *Event) tunnel() bool { return e.A == "udpblock" || Expects(e.Path, "tunnel") }

// Outcome is what an event did to a match.
type Outcome struct {
	Result
	HappenedAt time.Time
	Silence    [2]time.Duration // the longest at host and joiner from half a second before the event on
	Missed     [2]int           // how many datagrams of a tick did not come in during it, at 60 Hz
}

// settled is how many packets have come in on a route when it counts as in use: more than the first second of both routes.
const settled = 150

// relayedIn, tunneledIn and directIn tell a player's encrypted packets where they come in at home. Of a tunnel every segment of
// that length counts; the lobby is quiet by then.
func relayedIn(q *wiretap.Packet) bool {
	return q.Protocol == wiretap.UDP && q.Src.Addr() == RelayAddr && len(q.Payload) > 5 && q.Payload[0] == 0xF8 && q.Payload[5] == 23
}

func tunneledIn(q *wiretap.Packet) bool {
	return q.Protocol != wiretap.UDP && q.Src.Addr() == RelayAddr && len(q.Payload) > 40
}

func directIn(q *wiretap.Packet) bool {
	return q.Protocol == wiretap.UDP && q.Src.Addr() != RelayAddr && len(q.Payload) > 0 && q.Payload[0] == 23
}

func inside(q *wiretap.Packet, network byte) bool {
	a := q.Dst.Addr()
	return a.Is4() && a.As4()[0] == 10 && a.As4()[1] == network
}

// Play plays a match in the lab and lets the event happen in the middle of it.
func (e *Event) Play(ctx context.Context, l *Lab, p Programs, m Match, dir string) (o Outcome, err error) {
	m.Frames = cmp.Or(e.Frames, 600)
	m.HostArgs = append(slices.Clone(m.HostArgs), e.HostArgs...)
	var taps [2]*wiretap.Tap
	for i, node := range [...]string{"a", "b"} {
		if taps[i], err = wiretap.Open(wiretap.Config{Namespace: l.Namespace(node), Interfaces: []string{"eth0"}}); err != nil {
			return o, err
		}
		defer func() {
			packets, terr := taps[i].Close()
			err = errors.Join(err, terr)
			o.Silence[i] = silence(packets, byte(i+1), o.HappenedAt, e.tunnel())
			o.Missed[i] = max(0, int(o.Silence[i]*60/time.Second)-1)
		}()
	}
	m.During = func(ctx context.Context, v *Live) error {
		arriving := directIn
		if e.Relayed {
			arriving = func(q *wiretap.Packet) bool { return relayedIn(q) || e.tunnel() && tunneledIn(q) }
		}
		if err := taps[0].Await(ctx, settled, func(q *wiretap.Packet) bool { return inside(q, 1) && arriving(q) }); err != nil {
			return err
		}
		o.HappenedAt = time.Now()
		return e.Happen(ctx, l, v)
	}
	o.Result, err = l.Play(ctx, p, m, dir)
	return o, err
}

// silence is the longest without a packet of the opponent from half a second before at.
func silence(packets []wiretap.Packet, network byte, at time.Time, tunnel bool) time.Duration {
	var last time.Time
	longest := time.Duration(0)
	for i := range packets {
		q := &packets[i]
		if !inside(q, network) || !directIn(q) && !relayedIn(q) && !(tunnel && tunneledIn(q)) {
			continue
		}
		if !last.IsZero() && q.At.After(at.Add(-time.Second/2)) {
			longest = max(longest, q.At.Sub(last))
		}
		last = q.At
	}
	return longest
}

// Fault says what is not as it must be; times are not judged.
func (e *Event) Fault(o *Outcome) error {
	if err := o.Result.Fault(); err != nil {
		return err
	}
	var errs []error
	for _, r := range [...]*Report{&o.Host.Report, &o.Join.Report} {
		if r.Path == nil || e.Path != "" && !Expects(e.Path, *r.Path) {
			errs = append(errs, fmt.Errorf("path %v (%s), want %s: %s", deref(r.Path), r.Changes(), e.Path, r.Reason()))
		}
		if e.Again != "" && (r.Path == nil || *r.Path != e.Again || len(r.PathChanges) < 3) {
			errs = append(errs, fmt.Errorf("%s was not found again: %s: %s", e.Again, r.Changes(), r.Reason()))
		}
	}
	return errors.Join(errs...)
}

// Late says that nothing came in for longer than may be; on a busy machine that means little.
func (e *Event) Late(o *Outcome) error {
	for i, d := range o.Silence {
		if d > e.Lasts+e.Outage {
			return fmt.Errorf("nothing came in at %s for %v, want %v at most", [...]string{"host", "join"}[i], d.Round(time.Millisecond), e.Lasts+e.Outage)
		}
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
