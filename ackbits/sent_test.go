package ackbits

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

func pushed(n int) *Sent {
	s := new(Sent)
	for i := range n {
		s.Push(int64(i)*1000, int64(i))
	}
	return s
}

func TestLostOnceThreeLaterAreAcked(t *testing.T) {
	s := pushed(10)
	s.Acked(20_000, 0, 0, 0, nil)
	for _, c := range []struct {
		ack  Seq
		bits uint32
		lost int
	}{{2, 0b10, 0}, {3, 0b101, 0}, {4, 0b1011, 1}, {4, 0b1011, 0}} {
		if out := s.Acked(20_000, c.ack, c.bits, 0, nil); out.Lost != c.lost {
			t.Errorf("ack %d: lost %d, want %d", c.ack, out.Lost, c.lost)
		}
	}
	// The number of later packets acknowledged counts, not the distance.
	s = pushed(40)
	if out := s.Acked(50_000, 30, 1, 0, nil); out.Lost != 0 {
		t.Errorf("two acknowledged: lost %d", out.Lost)
	}
	if out := s.Acked(50_000, 31, 3, 0, nil); out.Lost != 29 {
		t.Errorf("three acknowledged: lost %d, want 29", out.Lost)
	}
	// A late acknowledgement takes the loss back.
	if out := s.Acked(50_000, 32, 7|1<<31, 0, nil); out.Delivered != 2 {
		t.Errorf("late: %+v", out)
	}
	if st := s.Stats(); st.Late != 1 || st.Lost != 28 || st.NeverAcked() != 28 {
		t.Errorf("%+v", st)
	}
}

// A gap of more than 33 on the return path leaves packets nobody reported on.
func TestGapBeyondTheWindow(t *testing.T) {
	s := pushed(200)
	s.Acked(0, 9, 0x1FF, 0, nil)
	out := s.Acked(0, 150, 0xFFFFFFFF, 0, nil)
	st := s.Stats()
	if out.Delivered != 33 || out.Lost != 0 || st.Unreported != 150-32-10 || st.Lost != 0 || s.Loss().Lost() != 0 {
		t.Errorf("%+v %+v", out, st)
	}
	if s.InFlight() != 49 {
		t.Errorf("in flight %d", s.InFlight())
	}
	if n, ok := s.Newest(); n != 150 || !ok {
		t.Errorf("newest %d", n)
	}
}

func TestHostileAcks(t *testing.T) {
	fresh := func() *Sent {
		s := pushed(100)
		s.Acked(100_000, 50, 0xFFFFFFFF, 0, nil)
		return s
	}
	for _, c := range []struct {
		name string
		ack  Seq
		bits uint32
		bad  uint64
		old  uint64
	}{
		{"the next one", 100, 0, 1, 0},
		{"far future", 20_000, 0xFFFFFFFF, 1, 0},
		{"half a ring ahead", 99 + 32767, 0, 1, 0},
		{"half a ring back", 99 + 32768, 0, 1, 0},
		{"before the start", 65535, 0, 1, 0},
		{"bits before the start", 3, 0b1000, 1, 0},
		{"older than the window", 17, 1, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, want := fresh(), fresh()
			out := s.Acked(200_000, c.ack, c.bits, 0, func(q Seq, _ int64) { t.Errorf("delivered %d", q) })
			if out != (Outcome{RTT: -1}) {
				t.Errorf("%+v", out)
			}
			if s.stats.BadAcks != c.bad || s.stats.OldAcks != c.old {
				t.Errorf("%+v", s.stats)
			}
			s.stats = want.stats
			if !reflect.DeepEqual(s, want) {
				t.Error("the record changed")
			}
		})
	}
	var none Sent
	if none.Acked(0, 0, 0, 0, nil); none.Stats().BadAcks != 1 {
		t.Error("an acknowledgement before anything was sent")
	}
	if none.Acked(0, 65535, 0, 0, nil); none.Stats().BadAcks != 2 {
		t.Error("an acknowledgement of packet -1")
	}
}

// A sender that hears nothing for longer than it remembers goes on.
func TestSilenceBeyondMemory(t *testing.T) {
	s := pushed(5 * Remembered)
	var got []Seq
	out := s.Acked(1e9, 100, 0xFFFFFFFF, 0, func(q Seq, _ int64) { got = append(got, q) })
	if out.Delivered != 33 || len(got) != 0 || out.RTT != -1 {
		t.Errorf("forgotten tags handed back: %+v %v", out, got)
	}
	const newest = 5*Remembered - 1
	out = s.Acked(newest*1000+70_000, newest, 0xFFFFFFFF, 0, func(q Seq, tag int64) {
		if Seq(tag) != q {
			t.Errorf("packet %d has tag %d", q, tag)
		}
		got = append(got, q)
	})
	if out.Delivered != 33 || len(got) != 33 || out.RTT != 70_000 {
		t.Errorf("%+v %v", out, got)
	}
}

func TestCarriedDelay(t *testing.T) {
	s := new(Sent)
	for i := range int64(20) {
		s.Push(i*16_667, 0)
	}
	for _, c := range []struct {
		ack        Seq
		now, delay int64
		rtt        int64
		bad        uint64
	}{
		{0, 85_000, 5_000, 80_000, 0},
		{0, 95_000, 5_000, -1, 0}, // only the first acknowledgement measures
		{1, 100_000, -1, -1, 1},
		{2, 100_000, 70_000, -1, 2}, // held longer than it took
		{3, 100_000, math.MaxInt64, -1, 3},
		{4, 100_000, math.MinInt64, -1, 4},
		{5, 83_335, 0, 0, 4},
		{6, 1 << 62, 0, -1, 4}, // a clock fault
		{7, 7*16_667 - 1, 0, -1, 5},
	} {
		bits := uint32(1)<<c.ack - 1
		out := s.Acked(c.now, c.ack, bits, c.delay, nil)
		if out.RTT != c.rtt || s.Stats().BadDelays != c.bad {
			t.Errorf("ack %d: rtt %d, want %d; %d bad delays, want %d", c.ack, out.RTT, c.rtt, s.Stats().BadDelays, c.bad)
		}
	}
	if s.RTT().Samples() != 2 {
		t.Errorf("%d samples", s.RTT().Samples())
	}
}

func FuzzSentAndReceived(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 1, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 2, 255, 255, 3, 4, 5, 1, 2, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, r := new(Sent), new(Received)
		var sent uint64
		for now := int64(0); len(b) >= 8; now += 1000 {
			seq := Seq(b[1]) | Seq(b[2])<<8
			bits := uint32(b[3]) | uint32(b[4])<<8 | uint32(b[5])<<16 | uint32(b[6])<<24
			switch b[0] % 4 {
			case 0:
				for range int(b[7]) + 1 {
					s.Push(now, int64(sent))
					sent++
				}
			case 1:
				s.Acked(now, seq, bits, int64(b[7])<<8-1000, func(q Seq, tag int64) {
					if Seq(uint16(tag)) != q || uint64(tag) >= sent {
						t.Fatalf("packet %d has tag %d of %d", q, tag, sent)
					}
				})
			case 2:
				if v := r.Mark(seq); v == New && r.Mark(seq) == New {
					t.Fatalf("%d is new twice", seq)
				}
			case 3:
				r.MarkRebuilt(seq)
			}
			b = b[8:]
		}
		st := s.Stats()
		if st.Sent != sent || st.Delivered > sent || st.Delivered+st.NeverAcked() > sent || s.InFlight() < 0 {
			t.Fatalf("%+v", st)
		}
		for _, l := range []*Loss{s.Loss(), r.Loss()} {
			if l.Fast() > One || l.Slow() > One || l.AfterLoss() > One || l.Lost() > l.Observed() {
				t.Fatalf("%+v", *l)
			}
		}
	})
}

// ACK: what is given up is told once, oldest first, with its tag, and nothing else is.
func TestGivenUpPacketsAreTold(t *testing.T) {
	told := func(s *Sent) *[]int64 {
		var tags []int64
		s.OnGivenUp(func(seq Seq, tag int64) {
			if int64(seq) != tag&0xFFFF {
				t.Errorf("sequence %d with tag %d", seq, tag)
			}
			tags = append(tags, tag)
		})
		return &tags
	}
	span := func(from, to int64) (all []int64) {
		for ; from < to; from++ {
			all = append(all, from)
		}
		return all
	}
	s := pushed(40)
	lost := told(s)
	s.Acked(50_000, 30, 1, 0, nil)
	if len(*lost) != 0 {
		t.Errorf("told of %v with two acknowledged", *lost)
	}
	s.Acked(50_000, 31, 3, 0, nil)
	s.Acked(50_000, 31, 3, 0, nil)
	s.Acked(50_000, 33, 0b1111|1<<31, 0, nil) // 1 arrives late
	if want := span(0, 29); !slices.Equal(*lost, want) {
		t.Errorf("lost %v, want %v", *lost, want)
	}

	s = pushed(200)
	silent := told(s)
	s.Acked(0, 9, 0x1FF, 0, nil)
	s.Acked(0, 150, 0xFFFFFFFF, 0, nil)
	if want := span(10, 118); !slices.Equal(*silent, want) {
		t.Errorf("unreported %v, want %v", *silent, want)
	}

	s = pushed(5000)
	old := told(s)
	s.Acked(0, 4999, 0xFFFFFFFF, 0, nil)
	if want := span(5000-Remembered, 4999-32); !slices.Equal(*old, want) {
		t.Errorf("%d told, from %d on; want %d", len(*old), (*old)[0], len(want))
	}
}
