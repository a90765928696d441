package ackbits

import "testing"

func TestNoAllocations(t *testing.T) {
	s, r := new(Sent), new(Received)
	now, tags := int64(0), int64(0)
	delivered := func(_ Seq, tag int64) { tags += tag }
	step := func() {
		now += 16_667
		q := s.Push(now, now)
		if q%7 != 0 {
			r.Mark(q)
		} else {
			r.MarkRebuilt(q)
		}
		ack, bits, _ := r.Ack()
		s.Acked(now+40_000, ack, bits, 100, delivered)
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
	if n := testing.AllocsPerRun(100, func() { r.Mark(Seq(uint16(r.newest + 1000))) }); n != 0 {
		t.Errorf("%v allocations at a gap", n)
	}
}

// One packet each way: record it, mark one, read the acknowledgement to send.
func BenchmarkMark(b *testing.B) {
	r := new(Received)
	var q Seq
	for b.Loop() {
		r.Mark(q)
		q++
		r.Ack()
	}
}

func BenchmarkPushAcked(b *testing.B) {
	s := pushed(33)
	now := int64(0)
	for b.Loop() {
		now += 16_667
		s.Acked(now+40_000, s.Push(now, now), 0xFFFFFFFF, 100, nil)
	}
	if s.Stats().BadAcks != 0 {
		b.Fatal("the acknowledgements were refused")
	}
}

func BenchmarkPushAckedLossy(b *testing.B) {
	s := new(Sent)
	r := new(Received)
	now, tags := int64(0), int64(0)
	delivered := func(_ Seq, tag int64) { tags += tag }
	for b.Loop() {
		now += 16_667
		q := s.Push(now, now)
		if q%10 == 0 {
			continue
		}
		r.Mark(q)
		ack, bits, _ := r.Ack()
		s.Acked(now+40_000, ack, bits, 100, delivered)
	}
}
