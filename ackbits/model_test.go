package ackbits

import (
	"testing"

	"pgregory.net/rapid"
)

// receivedModel is what Received does, written with a map and no window.
type receivedModel struct {
	newest, first int64
	have, arrived map[int64]bool
	told          int64 // the next packet whose fate is to be told
	fates         []bool
}

func (m *receivedModel) mark(n int64, arrived bool) Verdict {
	if m.have == nil {
		*m = receivedModel{newest: n, first: n, told: n, have: map[int64]bool{}, arrived: map[int64]bool{}}
	}
	if n < m.newest-32 {
		return Stale
	}
	v := New
	if m.have[n] {
		v = Duplicate
	}
	m.have[n] = true
	m.arrived[n] = m.arrived[n] || arrived
	m.newest = max(m.newest, n)
	if n < m.first {
		m.first, m.told = n, n
	}
	for ; m.told < m.newest-32; m.told++ {
		m.fates = append(m.fates, !m.arrived[m.told])
	}
	return v
}

func TestReceivedAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Received
		var m receivedModel
		at := rapid.Int64Range(60_000, 70_000).Draw(t, "start")
		first := true
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := at
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0, 1:
				n = at - rapid.Int64Range(0, 40).Draw(t, "back")
			case 2:
				n = at + rapid.Int64Range(1, 80).Draw(t, "gap")
			case 3:
				n = at + rapid.Int64Range(30, 36).Draw(t, "edge")
			default:
				n = at + 1
			}
			// A stream has no packets before the window of its first one.
			arrived := rapid.IntRange(0, 5).Draw(t, "rebuilt") > 0
			if first {
				r.newest = n &^ 0xFFFF // begin unwrapped where the model does
			}
			seq := Seq(uint16(n))
			var got Verdict
			if arrived {
				got = r.Mark(seq)
			} else {
				got = r.MarkRebuilt(seq)
			}
			if want := m.mark(n, arrived); got != want {
				t.Fatalf("%d: %v, want %v (newest %d)", n, got, want, m.newest)
			}
			first = false
			at = max(at, m.newest)

			var seqs []Seq
			missing := 0
			for k := m.newest - 32; k <= m.newest; k++ {
				if m.have[k] {
					seqs = append(seqs, Seq(uint16(k)))
				} else if k >= m.first {
					missing++
				}
			}
			ack, bits, ok := r.Ack()
			if !ok || ack != Seq(uint16(m.newest)) || bits != BuildAckBits(ack, seqs) {
				t.Fatalf("ack %d %x, want %d %x", ack, bits, uint16(m.newest), BuildAckBits(ack, seqs))
			}
			if r.Missing() != missing {
				t.Fatalf("missing %d, want %d", r.Missing(), missing)
			}
		}
		sameLoss(t, r.Loss(), m.fates)
	})
}

// sameLoss fails unless l is what observing fates one by one gives.
func sameLoss(t *rapid.T, l *Loss, fates []bool) {
	var want Loss
	for _, f := range fates {
		want.Observe(f)
	}
	if *l != want {
		t.Fatalf("loss %+v, want %+v", *l, want)
	}
}

// sentModel is what Sent does, written with maps and no window: the rules as they
// stand in its documentation.
type sentModel struct {
	at, tag       []int64
	acked         map[int64]bool
	newest, todo  int64
	lost          map[int64]bool
	fates         []bool
	stats         SentStats
	deliveredTags []int64
}

func (m *sentModel) ack(n int64, bits uint32) {
	if n < 0 || n >= int64(len(m.at)) || n < 32 && bits>>uint(max(n, 0)) != 0 {
		m.stats.BadAcks++
		return
	}
	if n < m.newest-32 {
		m.stats.OldAcks++
		return
	}
	before := m.newest
	m.newest = max(m.newest, n)
	// Out of the window for good.
	for ; m.todo < m.newest-32; m.todo++ {
		switch {
		case m.acked[m.todo]:
			m.fates = append(m.fates, false)
		case m.todo <= before:
			m.lost[m.todo] = true
			m.fates = append(m.fates, true)
		default:
			m.stats.Unreported++
		}
	}
	for k := n - 32; k <= n; k++ {
		covered := k == n || k >= 0 && bits>>uint(n-1-k)&1 == 1
		if k < m.newest-32 || !covered || m.acked[k] {
			continue
		}
		m.acked[k] = true
		m.stats.Delivered++
		if int64(len(m.tag))-k <= Remembered {
			m.deliveredTags = append(m.deliveredTags, m.tag[k])
		}
		if m.lost[k] {
			delete(m.lost, k)
			m.stats.Late++
		}
	}
	for ; m.todo <= m.newest; m.todo++ {
		later := 0
		for k := m.todo + 1; k <= m.newest; k++ {
			if m.acked[k] {
				later++
			}
		}
		if !m.acked[m.todo] && later < 3 {
			break
		}
		if !m.acked[m.todo] {
			m.lost[m.todo] = true
		}
		m.fates = append(m.fates, !m.acked[m.todo])
	}
}

func TestSentAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := new(Sent)
		m := sentModel{acked: map[int64]bool{}, lost: map[int64]bool{}, newest: -1}
		now := int64(0)
		var tags []int64
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += rapid.Int64Range(0, 20_000).Draw(t, "dt")
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 5, 40, 70}).Draw(t, "push") {
				tag := int64(len(m.at)) * 3
				if q := s.Push(now, tag); q != Seq(uint16(len(m.at))) {
					t.Fatalf("sequence %d", q)
				}
				m.at, m.tag = append(m.at, now), append(m.tag, tag)
			}
			n := m.newest
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				n -= rapid.Int64Range(0, 40).Draw(t, "back")
			case 1:
				n += rapid.Int64Range(0, 80).Draw(t, "ahead")
			case 2:
				n = int64(len(m.at)) + rapid.Int64Range(-2, 5).Draw(t, "edge")
			default:
				n = min(n+rapid.Int64Range(1, 3).Draw(t, "step"), int64(len(m.at))-1)
			}
			bits := rapid.Uint32().Draw(t, "bits")
			if rapid.Bool().Draw(t, "mostly") {
				bits |= rapid.Uint32().Draw(t, "more")
			}
			if n >= 0 && n < 32 && rapid.IntRange(0, 9).Draw(t, "honest") > 0 {
				bits &= 1<<uint(n) - 1
			}
			before := m.stats.Delivered
			out := s.Acked(now, Seq(uint16(n)), bits, 0, func(_ Seq, tag int64) { tags = append(tags, tag) })
			m.ack(n, bits)
			if uint64(out.Delivered) != m.stats.Delivered-before {
				t.Fatalf("delivered %d, want %d", out.Delivered, m.stats.Delivered-before)
			}
		}
		want := m.stats
		want.Sent, want.Lost = uint64(len(m.at)), uint64(len(m.lost))
		got := s.Stats()
		got.BadDelays = 0
		if got != want {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		sameLoss(t, s.Loss(), m.fates)
		if len(tags) != len(m.deliveredTags) {
			t.Fatalf("%d tags, want %d", len(tags), len(m.deliveredTags))
		}
		for i := range tags {
			if tags[i] != m.deliveredTags[i] {
				t.Fatalf("tag %d: %d, want %d", i, tags[i], m.deliveredTags[i])
			}
		}
	})
}
