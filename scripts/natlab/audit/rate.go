package audit

import (
	"net/netip"
	"slices"
	"time"
)

// PerSecond counts the records that one player put on one route in each of the last n whole seconds before end.
func PerSecond(data []Sent, sender netip.Addr, relayed bool, end time.Time, n int) []int {
	counts := make([]int, n)
	for i := range data {
		d := &data[i]
		if d.Src.Addr() != sender || d.Relayed != relayed || d.At.After(end) {
			continue
		}
		if ago := int(end.Sub(d.At) / time.Second); ago < n {
			counts[n-1-ago]++
		}
	}
	return counts
}

// Steady is what one player put on one route in the last n seconds before end, packet by packet.
type Steady struct {
	Datagrams int
	Gap       time.Duration // median between two of them
	Doubled   int           // that followed the one before within a quarter of the tick
	Odd       int           // whose size is outside the bounds
	Least     int           // and the sizes seen, in bytes of UDP payload
	Most      int
}

// PerTick looks at the datagrams of the last n seconds before end: at their distance, for one a tick, and at their sizes, which
// should be from low to high bytes.
func PerTick(data []Sent, sender netip.Addr, relayed bool, end time.Time, n int, tick time.Duration, low, high int) (s Steady) {
	var last time.Time
	var gaps []time.Duration
	for i := range data {
		d := &data[i]
		if d.Src.Addr() != sender || d.Relayed != relayed || d.At.After(end) || end.Sub(d.At) >= time.Duration(n)*time.Second {
			continue
		}
		if s.Datagrams++; !last.IsZero() {
			gap := d.At.Sub(last)
			if gaps = append(gaps, gap); gap < tick/4 {
				s.Doubled++
			}
		}
		last = d.At
		if d.Size < low || d.Size > high {
			s.Odd++
		}
		if s.Most = max(s.Most, d.Size); s.Least == 0 || d.Size < s.Least {
			s.Least = d.Size
		}
	}
	if slices.Sort(gaps); len(gaps) > 0 {
		s.Gap = gaps[len(gaps)/2]
	}
	return s
}
