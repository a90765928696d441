package sim

// LCG is the generator every fighter carries: next = current × 1664525 + 1013904223 modulo 2^32 (Numerical Recipes).
// It is stepped once a frame, whatever happens, so the number of calls is the same on every machine.
func LCG(current uint32) uint32 { return current*1664525 + 1013904223 }

// SplitMix64 is the match generator (Steele, Lea, Flood 2014): its state moves by 0x9E3779B97F4A7C15 and is then mixed.
// The zero value is the generator seeded with 0.
type SplitMix64 struct{ State uint64 }

// Next gives the next 64 bits.
func (s *SplitMix64) Next() uint64 {
	s.State += 0x9E3779B97F4A7C15
	z := s.State
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// DrawReason says what a match-level draw was for.
type DrawReason uint8

// The reasons. DrawSeed is one of the first six, which seed the fighters whether or not they exist.
const (
	DrawSeed DrawReason = iota
	DrawRound
)

// Draw is one audited draw of the match generator: the label of the frame, the slot it was for (NoFighter: the match), why,
// and its number, counted from 0 with the six seeds.
type Draw struct {
	Frame  int32
	Unit   uint8
	Reason DrawReason
	Index  uint32
	Value  uint64
}

// draw takes the next match-level value and reports it in the draws of this step.
func (w *World) draw(frame int32, unit uint8, reason DrawReason) uint64 {
	v := w.random.Next()
	if w.out.draws < uint8(len(w.out.draw)) {
		w.out.draw[w.out.draws] = Draw{Frame: frame, Unit: unit, Reason: reason, Index: w.drawn, Value: v}
		w.out.draws++
	}
	w.drawn++
	return v
}
