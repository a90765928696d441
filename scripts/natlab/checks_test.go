//go:build linux

package natlab

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"backstep/scripts/natlab/audit"
	"backstep/scripts/natlab/wiretap"
)

// The steady part of a match: these many seconds, the last of which ends a second before the last packet.
const steady = 6

// rate checks what a player sent in the steady part: one datagram a tick on one route, probes at most on the other, and no more
// bytes than the budget of 60 Hz play, IP and UDP headers included. It looks at the median of the seconds, because a machine
// with more to do than it has cores stops a player now and then.
func (p *played) rate(t *testing.T, data []audit.Sent, sender netip.Addr, relayed bool, most int, probes int) {
	t.Helper()
	var end time.Time
	for i := range data {
		if data[i].Src.Addr() == sender {
			end = data[i].At
		}
	}
	end = end.Add(-time.Second)
	main, other := audit.PerSecond(data, sender, relayed, end, steady), audit.PerSecond(data, sender, !relayed, end, steady)
	size, n := 0, 0
	for i := range data {
		if d := &data[i]; d.Src.Addr() == sender && d.Relayed == relayed && !d.At.After(end) && end.Sub(d.At) < steady*time.Second {
			size, n = size+d.Size+28, n+1
		}
	}
	t.Logf("%v: datagrams a second %v, on the other route %v, %.1f bytes a datagram", sender, main, other, float64(size)/float64(n))
	if m := median(main); m < 58 || m > 62 {
		p.timely(t, "%v sent %v datagrams in each second, want one a tick, which is 60", sender, main)
	}
	if median(other) > probes {
		p.timely(t, "%v sent %v datagrams a second on the other route, want %d at most", sender, other, probes)
	}
	if size*60 > most*n {
		p.timely(t, "%v sent %d bytes in 60 datagrams, want %d at most", sender, size*60/n, most)
	}
}

// The sizes of docs/wire.md, as UDP payload: link byte, DTLS record, and a compact packet. The least has no lag and no inputs; the
// most of a clean tick has ack bits, a hash and the worst window of human input.
const (
	sealing   = 1 + 13 + 16
	leastSize = sealing + 7
	mostSize  = sealing + 9 + 4 + 5 + 13
	relayHead = 5
)

// ticks checks the steady part packet by packet: one datagram a tick, 19 of 20 as long as documented. The others are side
// messages and control packets, which stand outside the ticks. A busy machine makes up for ticks it was late for.
func (p *played) ticks(t *testing.T, data []audit.Sent, sender netip.Addr, relayed bool) {
	t.Helper()
	var end time.Time
	for i := range data {
		if data[i].Src.Addr() == sender {
			end = data[i].At
		}
	}
	low, high := leastSize, mostSize
	if relayed {
		low, high = low+relayHead, high+relayHead
	}
	s := audit.PerTick(data, sender, relayed, end.Add(-time.Second), steady, time.Second/60, low, high)
	t.Logf("%v: %+v", sender, s)
	if s.Odd*20 > s.Datagrams {
		t.Errorf("%v sent datagrams of %d to %d bytes, %d of %d outside %d to %d", sender, s.Least, s.Most, s.Odd, s.Datagrams, low, high)
	}
	if s.Gap < 15*time.Millisecond || s.Gap > 18*time.Millisecond || s.Doubled*10 > s.Datagrams {
		p.timely(t, "%v sent a datagram every %v and %d of %d right behind another", sender, s.Gap, s.Doubled, s.Datagrams)
	}
}

func median(counts []int) int {
	sorted := slices.Sorted(slices.Values(counts))
	return sorted[len(sorted)/2]
}

// budget is what a player may send a second, with DTLS records and IP and UDP headers: 4.4 KB, and 5 bytes more a datagram for
// the relay's frame.
const budget, relayBudget = 4400, 4400 + 60*5

// data is what the internet saw of the encrypted packets.
func (p *played) data() []audit.Sent {
	return audit.UDP(p.net, audit.Rules{Relay: []netip.Addr{RelayAddr, RelayAddr2}}).Data
}

func cleanDirect(t *testing.T, p *played) {
	for _, sender := range []netip.Addr{RouterA, RouterB} {
		p.rate(t, p.data(), sender, false, budget, 2)
		p.ticks(t, p.data(), sender, false)
	}
}

func cleanRelayed(t *testing.T, p *played) {
	for _, sender := range []netip.Addr{RouterA, RouterB} {
		p.rate(t, p.data(), sender, true, relayBudget, 0)
		p.ticks(t, p.data(), sender, true)
	}
}

// hidden is attack case 20: with --path relay on one side, the wire of neither shows a packet to or from the other player, no
// candidate is offered and no check is sent.
func hidden(t *testing.T, p *played) {
	for host, packets := range map[netip.Addr][]wiretap.Packet{HostA: p.hostA, HostB: p.hostB} {
		if len(packets) < frames {
			t.Errorf("the capture of %v has only %d packets", host, len(packets))
		}
		for i := range packets {
			q := &packets[i]
			if !(q.Src.Addr() == host && q.Dst.Addr() == RelayAddr) && !(q.Src.Addr() == RelayAddr && q.Dst.Addr() == host) {
				t.Errorf("a packet %v > %v where only the relay is spoken to", q.Src, q.Dst)
			}
		}
	}
	udp := audit.UDP(p.net, audit.Rules{Relay: []netip.Addr{RelayAddr, RelayAddr2}})
	for _, k := range []audit.Kind{audit.STUNRequest, audit.STUNAnswer, audit.ICECheck, audit.ICEAnswer, audit.Direct} {
		if k >= audit.ICECheck && udp.Count[k] > 0 {
			t.Errorf("%d datagrams are %v", udp.Count[k], k)
		}
	}
	for _, r := range []*Report{&p.Host.Report, &p.Join.Report} {
		if text(r.LocalCandidate) != "relay" || text(r.RemoteCandidate) != "relay" || r.DirectMs != nil {
			t.Errorf("candidates %s and %s, direct after %s ms", text(r.LocalCandidate), text(r.RemoteCandidate), number(r.DirectMs))
		}
	}
}

// isDirect and isRelayed tell a player's encrypted packets where they come in at home.
func isDirect(q *wiretap.Packet) bool {
	return q.Protocol == wiretap.UDP && q.Dst.Addr() == HostA && q.Src.Addr() != RelayAddr && len(q.Payload) > 0 && q.Payload[0] == 23
}

func isRelayed(q *wiretap.Packet) bool {
	return q.Protocol == wiretap.UDP && q.Dst.Addr() == HostA && q.Src.Addr() == RelayAddr && len(q.Payload) > 5 && q.Payload[0] == 0xF8 && q.Payload[5] == 23
}

func disturb(ctx context.Context, p *played, arriving func(*wiretap.Packet) bool, args ...string) error {
	if err := p.insideA.Await(ctx, settled, arriving); err != nil {
		return err
	}
	p.disturbed = time.Now()
	return p.lab.Do(ctx, args...)
}

func cutDirect(ctx context.Context, p *played) error {
	return disturb(ctx, p, isDirect, "cut", "a", "direct")
}

func rebindDirect(ctx context.Context, p *played) error {
	return disturb(ctx, p, isDirect, "rebind", "a")
}

func rebindRelayed(ctx context.Context, p *played) error {
	return disturb(ctx, p, isRelayed, "rebind", "a")
}

// outage is the longest silence at player a in the second around the disturbance and the seconds behind it.
func (p *played) outage() time.Duration {
	var last time.Time
	longest := time.Duration(0)
	for i := range p.hostA {
		q := &p.hostA[i]
		if !isDirect(q) && !isRelayed(q) {
			continue
		}
		if !last.IsZero() && q.At.After(p.disturbed.Add(-time.Second/2)) {
			longest = max(longest, q.At.Sub(last))
		}
		last = q.At
	}
	return longest
}

// maxOutage is far more than the design's figures, 0.3 s to another path and 0.5 s to a new registration, because the machine
// may be busy; without either the match would stand still until it is given up.
const maxOutage = 2 * time.Second

func wasCut(t *testing.T, p *played) {
	for _, r := range []*Report{&p.Host.Report, &p.Join.Report} {
		if !r.Was("direct") {
			t.Errorf("the match was never direct: %s", r.Changes())
		}
	}
	after := 0
	for i := range p.hostA {
		if q := &p.hostA[i]; isRelayed(q) && q.At.After(p.disturbed.Add(maxOutage)) {
			after++
		}
	}
	if after < 60 {
		p.timely(t, "%d packets came over the relay after the cut", after)
	}
	p.checkOutage(t)
}

func wasRebound(t *testing.T, p *played) {
	before, after := map[uint16]bool{}, map[uint16]bool{}
	for _, d := range p.data() {
		if d.Src.Addr() != RouterA {
			continue
		}
		if d.At.Before(p.disturbed) {
			before[d.Src.Port()] = true
		} else if d.At.After(p.disturbed.Add(maxOutage)) {
			after[d.Src.Port()] = true
			if before[d.Src.Port()] {
				t.Fatalf("port %d is in use before and after the rebinding", d.Src.Port())
			}
		}
	}
	if len(before) == 0 || len(after) == 0 {
		t.Errorf("ports %v before the rebinding, %v after it", before, after)
	}
	p.checkOutage(t)
}

func (p *played) checkOutage(t *testing.T) {
	out := p.outage()
	if out > maxOutage {
		p.timely(t, "nothing came in for %v, want %v at most", out, maxOutage)
	}
	t.Logf("nothing came in for %v", out.Round(time.Millisecond))
}

// timely is an error of what depends on timers that are on time. Where the machine stood still it is only logged: it says
// nothing about the programs then.
func (p *played) timely(t *testing.T, format string, args ...any) {
	t.Helper()
	if p.late > MaxLateness {
		t.Logf("the machine stood still for %v, so only noted: "+format, append([]any{p.late.Round(time.Millisecond)}, args...)...)
		return
	}
	t.Errorf(format, args...)
}
