package bulk

import (
	"crypto/sha256"
	"fmt"
	"math"

	"backstep/ackbits"
	"backstep/fec"
)

const (
	never = math.MaxInt64

	// greed is how often a blob may be asked for before it is too much; 64
	// shards more for the smallest.
	greed = 8

	// probeGap is the most time between probes, in µs, unless a timeout is more.
	probeGap = 500_000
)

// Sender sends one blob. Its owner calls AppendShard when Next has come, sends
// what it appends, and hands in reports by Receive, until Done or Err.
type Sender struct {
	cfg        Config
	enc        *fec.BlobEncoder
	controller fec.Controller
	sent       ackbits.Sent
	pacer      pacer
	flights    flights
	blocks     []blockState
	first      int // block of which the first round is being sent
	heard      int64
	reported   int64 // newest packet a report spoke of, -1 none
	decideAt   int64
	lastAt     int64
	probes     int    // doublings of the time between probes
	loss       uint32 // that parity is sized for, millionths
	report     Report
	index      [1]uint8
	done       bool
	err        error
	stats      SenderStats
	total      int
}

// blockState is a block at its sender.
type blockState struct {
	need   int  // shards the receiver still needs, as far as reported
	began  bool // its first round
	sent   int  // shards of the first round that were sent
	rounds int  // shards the first round has
	extra  int  // shards to send beyond it
}

// waiting is how many shards of a block are yet to be sent.
func (b *blockState) waiting() int { return b.rounds - b.sent + b.extra }

// SenderStats are the counts of a [Sender].
type SenderStats struct {
	Shards     uint64 // sent, of all kinds
	Extra      uint64 // of them beyond the first rounds
	Probes     uint64 // of them sent into a silence
	ShardBytes uint64 // of shards, without headers
	Bytes      uint64 // of messages
	Expired    uint64 // shards of which no report spoke in time
	Reports    uint64 // taken
	Refused    uint64 // reports that were malformed or impossible
	Stale      uint64 // reports older than one that came before
	Cuts       uint64 // times the rate was halved
	Loss       uint32 // newest estimate, millionths
	RTT        int64  // smoothed, µs; 0 unknown
}

// NewSender prepares to send blob from now on. It copies the blob and hashes
// it, which takes about a millisecond a megabyte, and returns an error that
// wraps ErrConfig or ErrTooLong.
func NewSender(c Config, blob []byte, now int64) (*Sender, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(blob) > MaxBlob {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(blob), MaxBlob)
	}
	sum := sha256.Sum256(blob)
	whole := append(append(make([]byte, 0, len(blob)+len(sum)), blob...), sum[:]...)
	enc, err := fec.NewBlobEncoder(c.ID, whole, c.Shard)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s := &Sender{
		cfg: c, enc: enc, loss: c.Loss, reported: -1, heard: now, lastAt: now,
		pacer:  pacer{peak: int64(c.Peak), rate: int64(c.Rate), burst: int64(c.Burst), scale: fullScale, free: now, full: now},
		blocks: make([]blockState, enc.Blocks()),
	}
	s.flights.blocks = make([]int, enc.Blocks())
	for b := range s.blocks {
		k := enc.Data(b)
		s.total += k
		s.blocks[b] = blockState{need: k, rounds: k}
	}
	s.report.Needs = make([]fec.Need, 0, fec.MaxNeeds)
	return s, nil
}

// Done reports whether the other side has the whole blob.
func (s *Sender) Done() bool { return s.done }

// Err is why the transfer failed, nil if it did not: ErrSilent, ErrRefused,
// ErrGreedy.
func (s *Sender) Err() error { return s.err }

// Stats returns the counts so far.
func (s *Sender) Stats() SenderStats {
	st := s.stats
	st.Loss, st.RTT = s.loss, s.sent.RTT().Smoothed()
	return st
}

// trip is the round trip as far as it is known, in µs.
func (s *Sender) trip() int64 {
	switch rtt := s.sent.RTT(); {
	case rtt.Samples() > 0:
		return rtt.Smoothed()
	case s.cfg.RTT > 0:
		return s.cfg.RTT
	}
	return unknownTrip
}

// timeout is after how long on its way a shard is given up, in µs: a round trip
// with its deviation, and the time a report may wait.
func (s *Sender) timeout() int64 {
	if rtt := s.sent.RTT(); rtt.Samples() > 0 {
		return rtt.Timeout() + 2*reportDelay
	}
	return s.trip()*3/2 + 2*reportDelay
}

// silent reports whether the other side has not been heard for two timeouts
// while there was something to hear of.
func (s *Sender) silent(now int64) bool { return s.flights.next > 0 && now-s.heard > 2*s.timeout() }

// size is what a shard costs on the path, in bytes.
func (s *Sender) size() int { return shardHead + fec.ShardHeader + s.enc.ShardSize() + s.cfg.Overhead }

// room reports whether another shard may be on its way. On a full path fewer
// may, but always a few, whose reports keep the sender informed.
func (s *Sender) room() bool {
	f, size := &s.flights, int64(s.size())
	most := min(max(s.pacer.scaled(int64(s.cfg.InFlight)), leastFlight*size), int64(s.cfg.InFlight))
	return f.bytes+size <= most && f.next-f.oldest < inFlight
}

// Next is when, from now on, AppendShard may have something to send:
// math.MaxInt64 once the transfer is over.
func (s *Sender) Next(now int64) int64 {
	if s.done || s.err != nil {
		return never
	}
	end := s.heard + s.cfg.Timeout
	free := max(now, s.pacer.at(int64(s.size())))
	switch expiry, flying := s.flights.expiry(s.timeout()); {
	case s.flights.next == 0:
		return free
	case flying && (s.silent(free) || s.pick() < 0 || !s.room()):
		return min(expiry, end)
	case s.silent(free):
		return min(max(free, s.probeAt()), end)
	}
	return min(free, end)
}

// probeAt is when the next shard may go into a silence.
func (s *Sender) probeAt() int64 {
	timeout := s.timeout()
	return s.lastAt + max(min(timeout<<s.probes, probeGap), timeout)
}

// pick is the block to send of next, -1 if nothing is waiting: what was asked
// for first, then the first rounds in order.
func (s *Sender) pick() int {
	for b := range s.blocks {
		if s.blocks[b].need > 0 && s.blocks[b].extra > 0 {
			return b
		}
	}
	for s.first < len(s.blocks) {
		if b := &s.blocks[s.first]; b.need > 0 && b.sent < b.rounds {
			return s.first
		}
		s.first++
	}
	return -1
}

// AppendShard appends the shard message that is due at now to b, or nothing.
// Call it until it appends nothing.
func (s *Sender) AppendShard(b []byte, now int64) []byte {
	if s.done || s.err != nil {
		return b
	}
	if s.flights.next == 0 {
		s.heard = now // nobody could answer before
	}
	if now-s.heard >= s.cfg.Timeout {
		s.err = ErrSilent
		return b
	}
	if n := s.flights.expired(now, s.timeout()); n > 0 {
		s.stats.Expired += uint64(n)
		s.plan()
	}
	size := s.size()
	if now < s.pacer.at(int64(size)) {
		return b
	}
	probe := s.silent(now)
	if probe && (s.flights.oldest < s.flights.next || now < s.probeAt()) || !probe && !s.room() {
		return b
	}
	block := s.pick()
	if block < 0 {
		return b
	}
	if probe {
		s.probes = min(s.probes+1, 8)
		s.stats.Probes++
	}
	shard, err := s.take(block)
	if err != nil {
		s.err = err
		return b
	}
	seq := s.sent.Push(now, int64(block))
	s.flights.push(now, uint16(block), size)
	s.pacer.sent(now, int64(size))
	s.lastAt = now
	s.stats.Shards++
	s.stats.ShardBytes += uint64(len(shard.Payload))
	start := len(b)
	b = AppendShard(b, seq, &shard)
	s.stats.Bytes += uint64(len(b) - start)
	return b
}

// take makes the next shard of a block.
func (s *Sender) take(block int) (fec.Shard, error) {
	b := &s.blocks[block]
	if b.extra > 0 {
		if int(s.stats.Shards) > greed*s.total+64 {
			return fec.Shard{}, ErrGreedy
		}
		index, err := s.enc.Extra(s.index[:0], block, 1)
		if err != nil {
			return fec.Shard{}, err
		}
		b.extra--
		s.stats.Extra++
		return s.enc.Shard(block, int(index[0]))
	}
	if !b.began {
		b.began = true
		m := fec.ParityFor(s.enc.Data(block), s.loss)
		if _, err := s.enc.Grow(block, m); err != nil {
			return fec.Shard{}, err
		}
		b.rounds += m
	}
	b.sent++
	return s.enc.Shard(block, b.sent-1)
}

// plan has more shards sent of each block of which those on their way and
// those waiting cannot be enough, and takes back those asked for that are not
// needed any more.
func (s *Sender) plan() {
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.need == 0 {
			b.extra = 0
			continue
		}
		if !b.began {
			continue
		}
		there := s.flights.blocks[i] + b.waiting()
		enough := b.need + fec.ParityFor(b.need, s.loss)
		if there < b.need {
			b.extra += enough - there
		} else if over := there - enough; over > 0 {
			b.extra -= min(b.extra, over)
		}
	}
}

// Progress returns how many shards of use the other side has, as far as it
// reported, and how many it needs.
func (s *Sender) Progress() (have, need int) {
	for i := range s.blocks {
		have -= s.blocks[i].need
	}
	return have + s.total, s.total
}
