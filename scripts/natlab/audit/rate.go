package audit

import (
	"net/netip"
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
