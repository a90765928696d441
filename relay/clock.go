package relay

import "time"

// clock turns one source of time into the two the relay uses: monotonic nanoseconds for ages and rates, Unix seconds for the
// expiry of keys.
type clock struct {
	now   func() time.Time
	start time.Time
	wall  int64 // Unix nanoseconds at start
}

func newClock(now func() time.Time) *clock {
	t := now()
	return &clock{now: now, start: t, wall: t.UnixNano()}
}

// mono returns nanoseconds since start plus one hour, so that a zero stamp is always old.
func (c *clock) mono() int64 { return int64(c.now().Sub(c.start)) + int64(time.Hour) }

// unix returns the Unix second at a monotonic stamp. The wall clock is read once at start: a step of it moves no expiry.
func (c *clock) unix(mono int64) uint32 {
	return uint32((c.wall + mono - int64(time.Hour)) / int64(time.Second))
}
