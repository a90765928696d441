package bulk

import (
	"fmt"

	"backstep/fec"
)

// Defaults of a Config. Rate and burst leave the inputs their share of what a
// relay forwards for one side, 96 KB/s with one second of burst; peak sends a
// 64 KB snapshot with parity for 10 % loss in 0.3 s; what is in flight fits a
// receive buffer of 64 KB.
const (
	DefaultPeak     = 288 << 10  // bytes a second
	DefaultRate     = 80 << 10   // bytes a second
	DefaultBurst    = 88 << 10   // bytes
	DefaultInFlight = 52 << 10   // bytes
	DefaultTimeout  = 10_000_000 // µs
	// DefaultOverhead is what a full wire packet, the link byte, a DTLS record
	// and the relay's header add to a message, in bytes.
	DefaultOverhead = 55 + 1 + 29 + 5

	// unknownTrip stands for a round trip that nobody measured, in µs.
	unknownTrip = 200_000
)

// Config is what a Sender needs to know. Only ID has to be set.
type Config struct {
	ID       uint16 // names the transfer; both sides agree on it beforehand
	Loss     uint32 // measured on the path before FEC, in millionths
	RTT      int64  // measured on the path, µs; 0 unknown
	Peak     int    // bytes a second, from one packet to the next
	Rate     int    // bytes a second, over time
	Burst    int    // bytes that may run ahead of Rate
	InFlight int    // bytes on their way
	Overhead int    // bytes each message costs on the path beside its own, for Peak, Rate and Burst
	Shard    int    // longest shard in bytes, a multiple of 64; at most fec.DefaultShard
	Timeout  int64  // µs of silence after which the transfer fails
}

// withDefaults fills in what is zero and returns an error if anything is out of
// range.
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name            string
		value           *int
		initial, lo, hi int
	}{
		{"peak", &c.Peak, DefaultPeak, 1 << 10, 1 << 30},
		{"rate", &c.Rate, DefaultRate, 1 << 10, 1 << 30},
		{"burst", &c.Burst, DefaultBurst, 2 << 10, 1 << 30},
		{"bytes in flight", &c.InFlight, DefaultInFlight, 2 << 10, 1 << 24},
		{"overhead", &c.Overhead, DefaultOverhead, 1, 1 << 10},
		{"shard", &c.Shard, fec.DefaultShard, fec.ShardUnit, fec.DefaultShard},
	} {
		if *f.value == 0 {
			*f.value = f.initial
		}
		if *f.value < f.lo || *f.value > f.hi {
			return c, fmt.Errorf("%w: %s must be from %d to %d", ErrConfig, f.name, f.lo, f.hi)
		}
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	switch {
	case c.Shard%fec.ShardUnit != 0:
		return c, fmt.Errorf("%w: shard must be a multiple of %d", ErrConfig, fec.ShardUnit)
	case c.RTT < 0 || c.RTT > 60_000_000 || c.Timeout < 0:
		return c, fmt.Errorf("%w: round trip or timeout is negative or too long", ErrConfig)
	case c.Loss > 1_000_000:
		return c, fmt.Errorf("%w: loss is at most 1000000 millionths", ErrConfig)
	}
	return c, nil
}
