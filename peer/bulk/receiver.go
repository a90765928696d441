package bulk

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"backstep/ackbits"
	"backstep/fec"
)

const (
	reportShards = 8      // shards that make a report due at once
	reportDelay  = 10_000 // µs a shard may wait for its report
	reportCopies = 3      // of the last report, which nothing follows
	copySpacing  = 20_000 // µs between them
)

// ReceiverConfig is what a Receiver takes.
type ReceiverConfig struct {
	ID    uint16 // as the sender's
	Limit int    // longest blob in bytes, 1 to MaxBlob
	// Sum is the SHA-256 of the only blob that is wanted, if it is known.
	Sum *[sha256.Size]byte
}

// Receiver takes one blob. Its owner hands in messages by Receive and, when
// Next has come, sends what AppendReport appends, until Blob or Err. After that
// it should go on for a while, so that the sender learns of the end.
type Receiver struct {
	cfg      ReceiverConfig
	dec      *fec.BlobDecoder
	received ackbits.Received
	newestAt int64 // arrival of the newest packet
	due      int64 // when the next report is
	news     int   // shards since the last one
	last     int64 // when it was sent
	copies   int   // of the last report, yet to be sent
	state    State
	blob     []byte
	err      error
	needs    [fec.MaxNeeds]fec.Need
	stats    ReceiverStats
}

// ReceiverStats are the counts of a [Receiver].
type ReceiverStats struct {
	Shards    uint64 // taken
	Duplicate uint64 // packets that had come before, or were too old
	Other     uint64 // shards of another blob
	Malformed uint64 // messages that do not parse or contradict the first shard
	Reports   uint64 // sent
	Recovered uint64 // data shards rebuilt from parity
	Wasted    uint64 // parity that was not needed
}

// NewReceiver returns a Receiver, or an error that wraps ErrConfig.
func NewReceiver(c ReceiverConfig) (*Receiver, error) {
	if c.Limit < 1 || c.Limit > MaxBlob {
		return nil, fmt.Errorf("%w: the limit must be from 1 to %d bytes", ErrConfig, MaxBlob)
	}
	return &Receiver{cfg: c, dec: fec.NewBlobDecoder(c.Limit + sha256.Size), due: never, last: -reportDelay}, nil
}

// Receive takes a message that arrived at time at. Errors are for counting and
// change nothing: ErrMessage for one that is malformed or contradicts the first
// shard, ErrOther for one of another blob. What ends the transfer is in Blob and
// Err.
func (r *Receiver) Receive(at int64, msg []byte) error {
	var s fec.Shard
	seq, err := ParseShard(msg, &s)
	if err != nil {
		r.stats.Malformed++
		return err
	}
	if s.Blob != r.cfg.ID {
		r.stats.Other++
		return ErrOther
	}
	if r.state == Open {
		if err := r.take(&s); err != nil {
			return err
		}
	}
	// Late shards are of use all the same; the sequence is there for the
	// sender's acknowledgements.
	switch r.received.Mark(seq) {
	case ackbits.New:
		if newest, _ := r.received.Newest(); ackbits.Seq(uint16(newest)) == seq {
			r.newestAt = at
		}
	case ackbits.Far:
		r.stats.Duplicate++
		return nil
	default:
		r.stats.Duplicate++
	}
	r.heard(at)
	return nil
}

// heard makes a report due.
func (r *Receiver) heard(at int64) {
	r.news++
	switch {
	case r.state != Open:
		r.due = min(r.due, max(at, r.last+reportDelay))
	case r.news >= reportShards:
		r.due = min(r.due, at)
	default:
		r.due = min(r.due, at+reportDelay)
	}
}

// take adds a shard, and ends the transfer when it is the last one needed.
func (r *Receiver) take(s *fec.Shard) error {
	_, _, began := r.dec.Blob()
	complete, err := r.dec.Add(s)
	if errors.Is(err, fec.ErrBlobTooLong) && !began {
		r.finish(Refused, ErrTooLong)
		return nil
	}
	if err != nil {
		r.stats.Malformed++
		return ErrMessage
	}
	r.stats.Shards++
	if !complete {
		return nil
	}
	_, length, _ := r.dec.Blob()
	whole, err := r.dec.AppendBlob(make([]byte, 0, length))
	if err != nil {
		return ErrMessage
	}
	blob, told := whole[:length-sha256.Size], whole[length-sha256.Size:]
	if sum := sha256.Sum256(blob); !bytes.Equal(sum[:], told) || r.cfg.Sum != nil && sum != *r.cfg.Sum {
		r.finish(Refused, ErrSum)
		return nil
	}
	r.blob = blob[:len(blob):len(blob)]
	r.finish(Complete, nil)
	return nil
}

// finish ends the transfer and lets go of the shards.
func (r *Receiver) finish(state State, err error) {
	st := r.dec.Stats()
	r.stats.Recovered, r.stats.Wasted = st.Recovered, st.Wasted
	r.state, r.err, r.dec = state, err, nil
	r.copies = reportCopies
}

// Next is when AppendReport has something to send, math.MaxInt64 if not before
// the next Receive.
func (r *Receiver) Next() int64 { return r.due }

// AppendReport appends the report that is due at now to b, or nothing.
func (r *Receiver) AppendReport(b []byte, now int64) []byte {
	if now < r.due {
		return b
	}
	ack, bits, ok := r.received.Ack()
	if !ok {
		return b
	}
	p := Report{State: r.state, Blob: r.cfg.ID, Ack: ack, Bits: bits}
	p.Delay = uint16(min(max(now-r.newestAt, 0)/delayUnit, 1<<16-1))
	if r.state == Open {
		if p.Needs = r.dec.Needs(r.needs[:0]); len(p.Needs) == 0 {
			r.due = never // what came contradicts itself: there is nothing to ask for yet
			return b
		}
	}
	r.news, r.last, r.due = 0, now, never
	if r.copies > 0 {
		if r.copies--; r.copies > 0 {
			r.due = now + copySpacing
		}
	}
	r.stats.Reports++
	return AppendReport(b, &p)
}

// Blob returns the blob once it is complete and its SHA-256 agrees. It belongs
// to the caller.
func (r *Receiver) Blob() (blob []byte, ok bool) { return r.blob, r.state == Complete }

// Err is why there will be no blob, nil if there may: ErrTooLong or ErrSum.
func (r *Receiver) Err() error { return r.err }

// Progress returns how many shards of use have arrived and how many are needed,
// both 0 before the first; afterwards they are equal.
func (r *Receiver) Progress() (have, need int) {
	if r.dec == nil {
		return 1, 1
	}
	return r.dec.Progress()
}

// Stats returns the counts so far.
func (r *Receiver) Stats() ReceiverStats {
	st := r.stats
	if r.dec != nil {
		d := r.dec.Stats()
		st.Recovered, st.Wasted = d.Recovered, d.Wasted
	}
	return st
}
