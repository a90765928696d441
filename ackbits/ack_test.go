package ackbits

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSeqOrder(t *testing.T) {
	for _, c := range []struct {
		s, t  Seq
		newer bool
		sub   int
	}{
		{1, 0, true, 1}, {0, 1, false, -1}, {0, 0, false, 0},
		{0, 65535, true, 1}, {65535, 0, false, -1}, {5, 65530, true, 11},
		{32767, 0, true, 32767}, {32768, 0, false, -32768}, {0, 32768, false, -32768}, {32769, 0, false, -32767},
	} {
		if got := c.s.Newer(c.t); got != c.newer {
			t.Errorf("%d.Newer(%d) = %v", c.s, c.t, got)
		}
		if got := c.s.Sub(c.t); got != c.sub {
			t.Errorf("%d.Sub(%d) = %d, want %d", c.s, c.t, got, c.sub)
		}
	}
}

func TestUnwrapFindsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := rapid.Int64Range(-1, 1<<40).Draw(t, "ref")
		d := rapid.Int64Range(-32768, 32767).Draw(t, "d")
		if got := Unwrap(ref, Seq(uint16(ref+d))); got != ref+d {
			t.Fatalf("Unwrap(%d, %d) = %d, want %d", ref, uint16(ref+d), got, ref+d)
		}
	})
}

func TestBuildAckBits(t *testing.T) {
	all := func(last Seq) (s []Seq) {
		for i := Seq(1); i <= 32; i++ {
			s = append(s, last-i)
		}
		return s
	}
	for _, c := range []struct {
		name string
		last Seq
		seqs []Seq
		want uint32
	}{
		{"V-57 latest 1000 with 999 and 997", 1000, []Seq{999, 997}, 0b101},
		{"V-57 all 32", 1000, all(1000), 0xFFFFFFFF},
		{"V-45 latest 1000 with 999 to 968", 1000, all(1000), 0xFFFFFFFF},
		{"ACK-01 nothing", 1000, nil, 0},
		{"ACK-04 the window is 32 wide", 1000, []Seq{968, 967}, 1 << 31},
		{"ACK-05 bit i is latest-1-i across the wrap", 2, []Seq{1, 0, 65535, 65534}, 0b1111},
		{"ACK-05 the oldest bit across the wrap", 2, []Seq{65506}, 1 << 31},
		{"ACK-06 older than latest-32 is ignored", 10, []Seq{65513}, 0},
		{"newer and equal numbers have no bit", 10, []Seq{10, 11, 5000}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := BuildAckBits(c.last, c.seqs); got != c.want {
				t.Errorf("got %032b, want %032b", got, c.want)
			}
			n := 0
			for d := range 65536 {
				if Acks(c.last, c.want, c.last-Seq(d)) {
					n++
				}
			}
			ones := 1
			for b := c.want; b != 0; b &= b - 1 {
				ones++
			}
			if n != ones {
				t.Errorf("Acks covers %d packets, want %d", n, ones)
			}
		})
	}
}

// ACK-02, V-45: one packet acknowledges 33.
func TestOnePacketAcknowledges33(t *testing.T) {
	var s Sent
	var r Received
	for range 1001 {
		r.Mark(s.Push(0, 0))
	}
	ack, bits, ok := r.Ack()
	if !ok || ack != 1000 || bits != 0xFFFFFFFF {
		t.Fatalf("ack %d bits %x", ack, bits)
	}
	var got []Seq
	out := s.Acked(0, ack, bits, 0, func(q Seq, _ int64) { got = append(got, q) })
	if out.Delivered != 33 || len(got) != 33 || got[0] != 968 || got[32] != 1000 {
		t.Fatalf("delivered %d: %v", out.Delivered, got)
	}
}

// ACK-03: each acknowledgement is sent 33 times (once as ack, 32 times as a bit),
// and any one of them is enough.
func TestAnyOneOfTheNext32IsEnough(t *testing.T) {
	for survivor := range 33 {
		var s Sent
		var r Received
		first := true
		for i := range 33 {
			r.Mark(s.Push(int64(i), int64(i)))
			if i != survivor {
				continue
			}
			ack, bits, _ := r.Ack()
			s.Acked(int64(i), ack, bits, 0, func(q Seq, tag int64) {
				if q == 0 && tag == 0 && first {
					first = false
				}
			})
		}
		if first {
			t.Errorf("packet 0 unacknowledged with only packet %d back", survivor)
		}
	}
}

// ACK-06 at the receiver, and the other verdicts.
func TestVerdicts(t *testing.T) {
	var r Received
	if _, _, ok := r.Ack(); ok {
		t.Error("the zero value acknowledges")
	}
	for _, c := range []struct {
		seq  Seq
		want Verdict
	}{
		{100, New}, {100, Duplicate}, {99, New}, {99, Duplicate}, {68, New}, {67, Stale}, {65535, Stale},
		{101, New}, {68, Stale}, {69, New},
		{101 + MaxJump, New}, {101 + MaxJump - 32, New}, {101 + MaxJump - 33, Stale},
		{101 + 2*MaxJump + 1, Far}, {101, Stale}, {100, Far},
	} {
		if got := r.Mark(c.seq); got != c.want {
			t.Errorf("Mark(%d) = %v, want %v", c.seq, got, c.want)
		}
	}
	if got := r.Stats(); got.New != 7 || got.Duplicate != 2 || got.Stale != 5 || got.Far != 2 {
		t.Errorf("%+v", got)
	}
	if Verdict(9).String() != "invalid" || Far.String() != "far" || New.String() != "new" || Duplicate.String() != "duplicate" || Stale.String() != "stale" {
		t.Error("names")
	}
}

func TestFarNumbersAreBelievedWhenTheyAgree(t *testing.T) {
	var r Received
	r.Mark(5)
	for i := range 40 { // one stray number again and again convinces nobody
		if v := r.Mark(30000); v != Far {
			t.Fatalf("repeat %d: %v", i, v)
		}
	}
	for i := range Seq(40) { // nor do scattered ones
		if v := r.Mark(10000 + i*500); v != Far {
			t.Fatalf("scattered %d: %v", i, v)
		}
	}
	for i := range Seq(7) {
		if v := r.Mark(20000 + 2*i); v != Far {
			t.Fatalf("run %d: %v", i, v)
		}
	}
	r.Mark(6) // the old numbering is alive
	for i := range Seq(7) {
		if v := r.MarkRebuilt(20000 + i); v != Far {
			t.Fatalf("rebuilt: %v", v)
		}
		if v := r.Mark(20000 + i); v != Far {
			t.Fatalf("second run %d: %v", i, v)
		}
	}
	if v := r.Mark(20007); v != New {
		t.Fatalf("eighth in a row: %v", v)
	}
	if n, _ := r.Newest(); n != 20007 || r.Stats().Resyncs != 1 || r.Loss().Lost() != 0 || r.Missing() != 0 {
		t.Fatalf("newest %d %+v lost %d", n, r.Stats(), r.Loss().Lost())
	}
	if v := r.Mark(20008); v != New {
		t.Fatal(v)
	}
}

// A rollover must not look like a loss storm, at either end.
func TestRolloverIsNotLoss(t *testing.T) {
	var s Sent
	var r Received
	for i := range int64(200_000) {
		if v := r.Mark(s.Push(i*1000, i)); v != New {
			t.Fatalf("packet %d: %v", i, v)
		}
		ack, bits, _ := r.Ack()
		want := i
		out := s.Acked(i*1000+500, ack, bits, 0, func(_ Seq, tag int64) {
			if tag != want {
				t.Fatalf("delivered %d, want %d", tag, want)
			}
		})
		if out != (Outcome{Delivered: 1, RTT: 500}) {
			t.Fatalf("packet %d: %+v", i, out)
		}
	}
	if n, _ := r.Newest(); n != 199_999 {
		t.Errorf("newest %d", n)
	}
	if r.Loss().Lost()+s.Loss().Lost()+s.Stats().NeverAcked() != 0 || s.Stats().BadAcks != 0 {
		t.Errorf("loss at a rollover: %+v", s.Stats())
	}
}

func TestLossBeforeAndAfterRepair(t *testing.T) {
	var r Received
	for i := range Seq(400) {
		switch {
		case i%10 != 3:
			r.Mark(i)
		case i%20 == 3:
			if v := r.MarkRebuilt(i); v != New {
				t.Fatal(v)
			}
		}
	}
	// 36 of every tenth have left the window of 33.
	if got := r.Loss().Lost(); got != 37 && got != 36 {
		t.Errorf("lost %d", got)
	}
	if got := r.Stats().Rebuilt; got != 20 {
		t.Errorf("rebuilt %d", got)
	}
	ack, bits, _ := r.Ack()
	for d := range Seq(33) {
		if want := (ack-d)%10 != 3 || (ack-d)%20 == 3; Acks(ack, bits, ack-d) != want {
			t.Errorf("ack of %d: %v", ack-d, !want)
		}
	}
	if r.Missing() != 2 { // 393 and 373 are in the last 33 and unrepaired; 383 was rebuilt
		t.Errorf("missing %d", r.Missing())
	}
	if v := r.Mark(383); v != Duplicate {
		t.Errorf("the original of a rebuilt packet is %v", v)
	}
}
