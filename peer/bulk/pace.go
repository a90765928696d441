package bulk

// leastPacket is what a packet counts as at least, in bytes, so that small
// shards do not become more packets a second than a relay forwards.
const leastPacket = 512

// pacer decides when the next packet may go: no faster than peak, over time no
// faster than rate with burst bytes ahead of it. Both are generic cell rate
// algorithms (ITU-T I.371). Under congestion peak and rate are scaled.
type pacer struct {
	peak, rate int64 // bytes a second
	burst      int64 // bytes
	scale      int64 // of 256
	free       int64 // when the next packet may go at peak
	full       int64 // when the burst is there again
}

const (
	fullScale  = 256
	leastScale = fullScale / 32

	// lag is how much of its peak a sender that was called late makes up for, in µs.
	lag = 16_667
)

// micros is how long bytes take at a rate.
func micros(bytes, rate int64) int64 { return bytes * 1_000_000 / rate }

func (p *pacer) scaled(rate int64) int64 { return max(rate*p.scale/fullScale, 1) }

// at is when a packet of size bytes may go.
func (p *pacer) at(size int64) int64 {
	size = max(size, leastPacket)
	rate := p.scaled(p.rate)
	return max(p.free, p.full+micros(size-p.burst, rate))
}

// sent records a packet of size bytes.
func (p *pacer) sent(now, size int64) {
	size = max(size, leastPacket)
	p.free = max(p.free, now-lag) + micros(size, p.scaled(p.peak))
	p.full = max(p.full, now) + micros(size, p.scaled(p.rate))
}

func (p *pacer) cut()  { p.scale = max(p.scale/2, leastScale) }
func (p *pacer) grow() { p.scale = min(p.scale+max(p.scale/8, 1), fullScale) }
