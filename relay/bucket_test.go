package relay

import (
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

func TestBucketBurstThenRate(t *testing.T) {
	r := perSecond(300, 1)
	var b bucket
	now := int64(time.Hour)
	for i := range 300 {
		if !b.take(now, r, 1) {
			t.Fatalf("unit %d of the burst refused", i)
		}
	}
	if b.take(now, r, 1) {
		t.Fatal("unit 301 of one instant taken")
	}
	taken := 0
	for range 10_000 { // ten seconds in steps of a millisecond
		now += int64(time.Millisecond)
		if b.take(now, r, 1) {
			taken++
		}
	}
	if taken < 2999 || taken > 3001 {
		t.Fatalf("%d units in ten seconds at 300 a second", taken)
	}
}

// However requests come, no window of one second sees more than burst plus refill.
func TestBucketNeverExceedsBurstPlusRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "rate")
		r := perSecond(n, 1)
		var b bucket
		now, start := int64(time.Hour), int64(time.Hour)
		got := 0
		for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, int64(20*time.Millisecond)), 1, 400).Draw(t, "gaps") {
			now += gap
			if b.take(now, r, 1) {
				got++
			}
			if most := n + int((now-start)/r.step) + 1; got > most {
				t.Fatalf("%d units after %v at %d a second, at most %d", got, time.Duration(now-start), n, most)
			}
		}
	})
}

func TestSourceOf(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.77": "192.0.2.0/24", "::ffff:192.0.2.77": "192.0.2.0/24",
		"2001:db8:1:2ff:3::4": "2001:db8:1:200::/56", "fe80::1%eth0": "fe80::/56",
	} {
		if got := sourceOf(netip.MustParseAddr(in)).String(); got != want {
			t.Errorf("source of %s is %s, want %s", in, got, want)
		}
	}
}

func TestSourceTableCountsNetworks(t *testing.T) {
	s := newSourceTable(refill(10, time.Minute))
	now := int64(time.Hour)
	for i := range 10 {
		a := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		if s.wait(now, a) != 0 {
			t.Fatalf("try %d must wait", i)
		}
		s.charge(now, a)
	}
	a := netip.MustParseAddr("::ffff:192.0.2.200")
	w := s.wait(now, a)
	if w <= 0 || w > int64(time.Minute) {
		t.Fatalf("eleventh try of the /24 waits %v", time.Duration(w))
	}
	if s.wait(now, netip.MustParseAddr("192.0.3.1")) != 0 {
		t.Fatal("another /24 waits too")
	}
	for range 100 {
		s.charge(now, a)
	}
	if w := s.wait(now, a); w > int64(2*time.Minute) {
		t.Fatalf("debt grew to %v", time.Duration(w))
	}
	if s.wait(now+int64(2*time.Minute), a) != 0 {
		t.Fatal("nothing came back in two minutes")
	}
}

// A flood from everywhere uses the same memory and does not wipe out the debt of those who are deepest in it.
func TestSourceTableIsConstant(t *testing.T) {
	if size := unsafe.Sizeof(sourceTable{}); size > 200<<10 {
		t.Fatalf("a table is %d bytes", size)
	}
	s := newSourceTable(refill(10, time.Minute))
	now := int64(time.Hour)
	bad := netip.MustParseAddr("192.0.2.1")
	for range 11 {
		s.charge(now, bad)
	}
	for i := range 100_000 {
		s.charge(now, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if s.wait(now, bad) == 0 {
		t.Fatal("a flood of others' single failures cleared a debt of eleven")
	}
	if n := testing.AllocsPerRun(100, func() { s.take(now, bad) }); n != 0 {
		t.Fatalf("%v allocations a lookup", n)
	}
}
