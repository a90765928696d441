package ackbits

import "math/bits"

const (
	// window selects the newest packet (bit 0) and the 32 before it.
	window = 1<<(Width+1) - 1

	// MaxJump is the largest step, either way, that a sequence number may make
	// and still be believed at once: 68 s of silence at 60 packets a second.
	MaxJump = 4096

	// resyncRun packets in a row beyond MaxJump, each at most resyncStep newer
	// than the one before, are believed after all.
	resyncRun  = 8
	resyncStep = 64
)

// Verdict says what a sequence number is to the receiver.
type Verdict uint8

const (
	// New packets are to be used, and are acknowledged from now on.
	New Verdict = iota
	// Duplicate packets have been used already.
	Duplicate
	// Stale packets are older than newest-32: they cannot be acknowledged, so
	// the sender must believe them lost, and they are to be ignored.
	Stale
	// Far packets are more than MaxJump away from the newest: damage, an old
	// session or a lie. They are to be ignored, until 8 in a row agree.
	Far
)

// String names the verdict.
func (v Verdict) String() string {
	switch v {
	case New:
		return "new"
	case Duplicate:
		return "duplicate"
	case Stale:
		return "stale"
	case Far:
		return "far"
	}
	return "invalid"
}

// Received is the receiver's window: which of the newest 33 packets arrived, and
// the loss of the stream. The zero value has received nothing.
//
// A packet that forward error correction rebuilt is acknowledged like one that
// arrived, but it stays lost in the loss estimate: otherwise good protection
// would look like a good link and switch itself off.
type Received struct {
	newest  int64 // unwrapped
	first   int64 // packets before this one are none of ours
	have    uint64
	arrived uint64 // the part of have that was not rebuilt
	began   bool

	farSeq Seq
	farRun uint8

	loss  Loss
	stats ReceivedStats
}

// ReceivedStats are the counts of a [Received] since its start, in packets.
type ReceivedStats struct {
	New       uint64 // arrived and used
	Rebuilt   uint64 // rebuilt from parity and used
	Duplicate uint64
	Stale     uint64 // older than newest-32
	Far       uint64 // beyond MaxJump
	Resyncs   uint64 // times the window moved to a far number
}

// Mark records that the packet with sequence s arrived and says what to do with
// it. Call it only for packets that are authentic and parsed: what is marked is
// acknowledged.
func (r *Received) Mark(s Seq) Verdict {
	v := r.mark(s, 1)
	if v == New {
		r.stats.New++
		return v
	}
	switch v {
	case Duplicate:
		r.stats.Duplicate++
	case Stale:
		r.stats.Stale++
	case Far:
		r.stats.Far++
	}
	return v
}

// MarkRebuilt records that the packet with sequence s was rebuilt from parity.
// Only New has an effect; a rebuilt packet never moves the window to a far one.
func (r *Received) MarkRebuilt(s Seq) Verdict {
	v := r.mark(s, 0)
	if v == New {
		r.stats.Rebuilt++
	}
	return v
}

// mark does both; arrived is 1 for a packet that arrived and 0 for a rebuilt one.
func (r *Received) mark(s Seq, arrived uint64) Verdict {
	if !r.began {
		r.began = true
		r.newest = int64(s)
		r.first = r.newest
		r.have, r.arrived = 1, arrived
		return New
	}
	d := int64(s.Sub(Seq(uint16(r.newest))))
	if d == 1 {
		r.step(arrived)
		return New
	}
	switch {
	case d > MaxJump || d < -MaxJump:
		if arrived == 0 || !r.resync(s) {
			return Far
		}
	case d > 0:
		r.advance(d)
		r.arrived |= arrived
	case d < -Width:
		return Stale
	default:
		bit := uint64(1) << uint(-d)
		if r.have&bit != 0 {
			r.arrived |= arrived << uint(-d)
			return Duplicate
		}
		r.have |= bit
		r.arrived |= arrived << uint(-d)
		r.first = min(r.first, r.newest+d)
	}
	r.farRun = 0
	return New
}

// step is advance(1), the common case.
func (r *Received) step(arrived uint64) {
	if r.newest-Width >= r.first {
		r.loss.Observe(r.arrived>>Width&1 == 0)
	}
	r.newest++
	r.have = r.have<<1&window | 1
	r.arrived = r.arrived<<1&window | arrived
	r.farRun = 0
}

// advance moves the window d packets on and tells the estimator the fate of
// those that leave it.
func (r *Received) advance(d int64) {
	newest := r.newest + d
	for s := max(r.first, r.newest-Width); s <= r.newest && s < newest-Width; s++ {
		r.loss.Observe(r.arrived>>uint(r.newest-s)&1 == 0)
	}
	if skipped := d - Width - 1; skipped > 0 {
		r.loss.LoseMany(uint64(skipped))
	}
	if d > Width {
		r.have, r.arrived = 0, 0
	} else {
		r.have = r.have << uint(d) & window
		r.arrived = r.arrived << uint(d) & window
	}
	r.have |= 1
	r.newest = newest
}

// resync decides whether far packets have agreed for long enough, and if so
// moves the window to s. The gap is of unknown size, so it is not counted as loss.
func (r *Received) resync(s Seq) bool {
	if step := s.Sub(r.farSeq); r.farRun > 0 && step >= 1 && step <= resyncStep {
		r.farRun++
	} else if r.farRun == 0 || step != 0 {
		r.farRun = 1
	}
	r.farSeq = s
	if r.farRun < resyncRun {
		return false
	}
	r.newest += int64(s - Seq(uint16(r.newest)))
	r.first = r.newest
	r.have, r.arrived = 1, 1
	r.stats.Resyncs++
	return true
}

// Ack returns the acknowledgement to send: the newest sequence received and the
// bits for the 32 before it. ok is false if nothing has been received.
func (r *Received) Ack() (ack Seq, bits uint32, ok bool) {
	return Seq(uint16(r.newest)), uint32(r.have >> 1), r.began
}

// Newest returns the newest sequence received, unwrapped: it counts on past
// 65535. ok is false if nothing has been received.
func (r *Received) Newest() (newest int64, ok bool) { return r.newest, r.began }

// Missing is the number of packets among the newest 33 that have neither arrived
// nor been rebuilt. They may still arrive. Numbers before the first one received
// do not count.
func (r *Received) Missing() int {
	if !r.began {
		return 0
	}
	span := min(r.newest-r.first, Width) + 1
	return int(span) - bits.OnesCount64(r.have&(1<<uint(span)-1))
}

// Loss is the estimate of what the link lost, rebuilt packets included, told
// for packets as they leave the window of 33. The pointer stays valid and owned
// by r.
func (r *Received) Loss() *Loss { return &r.loss }

// Stats returns the counts so far.
func (r *Received) Stats() ReceivedStats { return r.stats }
