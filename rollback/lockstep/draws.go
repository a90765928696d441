package lockstep

import (
	"cmp"
	"errors"
	"fmt"
)

// golden is the increment of SplitMix64.
const golden = 0x9E3779B97F4A7C15

// mix is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// ErrDrawOrder: random numbers were drawn in another order than the canonical one.
var ErrDrawOrder = errors.New("lockstep: draws out of order")

// Draw is one random number of a match: for which unit and what reason, and which one it was.
type Draw struct {
	Frame  int32
	Unit   uint32
	Reason uint16
	Index  uint32 // of all draws of the match, from 0
	Value  uint64
}

// drawLog is how many draws are kept for evidence.
const drawLog = 1024

// Draws are the random numbers of a match, by SplitMix64 from its seed. Each names a unit and a reason and is logged.
// Within a frame they must be drawn in the order of (unit, reason): an order that the memory or the build of a machine
// decides is found at the first draw, not at the first difference it makes. Make it with NewDraws.
type Draws struct {
	state uint64
	next  uint32
	frame int32
	last  Draw
	err   error
	log   [drawLog]Draw
}

// NewDraws begins with the seed.
func NewDraws(seed uint64) Draws { return Draws{state: seed} }

// Next draws a number.
func (d *Draws) Next(unit uint32, reason uint16) uint64 {
	d.state += golden
	w := Draw{d.frame, unit, reason, d.next, mix(d.state)}
	if d.err == nil && d.next > 0 {
		d.err = follows(d.last, w)
	}
	d.log[d.next%drawLog], d.last = w, w
	d.next++
	return w.Value
}

// Err is the first draw that came out of order, as an error that wraps ErrDrawOrder.
func (d *Draws) Err() error { return d.err }

// Count is how many were drawn.
func (d *Draws) Count() uint32 { return d.next }

// Log appends the draws that are kept, oldest first.
func (d *Draws) Log(dst []Draw) []Draw {
	for i := d.next - min(d.next, drawLog); i < d.next; i++ {
		dst = append(dst, d.log[i%drawLog])
	}
	return dst
}

// restore goes on after count draws from the given state.
func (d *Draws) restore(state uint64, count uint32, frame int32) {
	*d = Draws{state: state, next: count, frame: frame}
	d.last = Draw{Frame: frame, Index: count - 1}
}

// Audit checks a log: it passes only in the order of (frame, unit, reason, index), every index once.
func Audit(log []Draw) error {
	for i := 1; i < len(log); i++ {
		if err := follows(log[i-1], log[i]); err != nil {
			return err
		}
	}
	return nil
}

func follows(a, b Draw) error {
	if b.Index != a.Index+1 || cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Reason, b.Reason)) > 0 {
		return fmt.Errorf("%w: draw %d (frame %d, unit %d, reason %d) after draw %d (frame %d, unit %d, reason %d)", ErrDrawOrder,
			b.Index, b.Frame, b.Unit, b.Reason, a.Index, a.Frame, a.Unit, a.Reason)
	}
	return nil
}
