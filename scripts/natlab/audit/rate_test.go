package audit

import (
	"net/netip"
	"testing"
	"time"
)

func TestPerTick(t *testing.T) {
	const tick = time.Second / 60
	a, b := netip.MustParseAddrPort("10.0.0.1:5"), netip.MustParseAddrPort("10.0.0.2:5")
	start := time.Unix(1000, 0)
	end := start.Add(4 * time.Second)
	var data []Sent
	for i := range 240 {
		at := start.Add(time.Duration(i)*tick + tick/2)
		data = append(data, Sent{At: at, Src: a, Dst: b, Size: 40 + i%3}, Sent{At: at, Src: b, Dst: a, Size: 900}, Sent{At: at, Src: a, Relayed: true, Size: 7})
	}
	want := Steady{Datagrams: 120, Gap: data[3].At.Sub(data[0].At), Least: 40, Most: 42}
	if got := PerTick(data, a.Addr(), false, end, 2, tick, 40, 42); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A second datagram a millisecond behind, and one that is too long.
	data = append(data, Sent{At: data[len(data)-3].At.Add(time.Millisecond), Src: a, Dst: b, Size: 43})
	got := PerTick(data, a.Addr(), false, end, 2, tick, 40, 42)
	if got.Doubled != 1 || got.Odd != 1 || got.Most != 43 || got.Datagrams != 121 {
		t.Errorf("%+v", got)
	}
	if got := PerTick(nil, a.Addr(), false, end, 2, tick, 40, 42); got != (Steady{}) {
		t.Errorf("%+v", got)
	}
}
