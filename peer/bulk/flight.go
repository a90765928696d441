package bulk

// inFlight is how many shards may be on their way at most, whatever the bytes.
const inFlight = 256

// leastFlight is how many shards may be on their way on the fullest path.
const leastFlight = 3

// flight is a shard on its way.
type flight struct {
	at    int64
	block uint16
	size  uint16 // of the packet
}

// flights are the shards that no report could speak of yet, by the unwrapped
// number of their packet.
type flights struct {
	ring         [inFlight]flight
	oldest, next int64
	bytes        int64
	blocks       []int // by block
}

func (f *flights) push(at int64, block uint16, size int) {
	f.ring[f.next%inFlight] = flight{at, block, uint16(size)}
	f.next++
	f.bytes += int64(size)
	f.blocks[block]++
}

func (f *flights) pop() {
	p := &f.ring[f.oldest%inFlight]
	f.oldest++
	f.bytes -= int64(p.size)
	f.blocks[p.block]--
}

// landed takes out everything up to packet n: a report speaks of it.
func (f *flights) landed(n int64) {
	for f.oldest <= n && f.oldest < f.next {
		f.pop()
	}
}

// expired takes out what has been on its way for too long and returns how many
// that were.
func (f *flights) expired(now, timeout int64) (n int) {
	for f.oldest < f.next && now-f.ring[f.oldest%inFlight].at >= timeout {
		f.pop()
		n++
	}
	return n
}

// expiry is when the oldest will have been on its way for too long; ok is false
// if nothing is.
func (f *flights) expiry(timeout int64) (at int64, ok bool) {
	return f.ring[f.oldest%inFlight].at + timeout, f.oldest < f.next
}
