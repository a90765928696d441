package desync

import (
	"testing"
)

// Attack case 21: an opponent who takes part in a desync as slowly as he may, round after round, and never lets a
// message be missing for long, stops the match for a minute in all and no longer.
func TestSlowOpponentEndsTheMatch(t *testing.T) {
	g := newToy(80)
	sent := 0
	r := New(Config{Side: g, Host: true, Build: "host", Accept: func() Answer { return Yes }, Send: func([]byte) error { sent++; return nil }})
	const tick = 16_667
	now, stopped := int64(0), int64(0)
	for r.Phase() != Failed && now < 3600*1_000_000 {
		r.Open(now)
		round := uint8(r.Round())
		begun := now
		for ; r.Busy() && r.Phase() != Failed; now += tick {
			// Each answer that the phase takes, at the last moment; a state dripped in single bytes is no answer.
			if now-begun < patience-2*tick {
				m := Message{Kind: KindPart, Round: round, Label: r.awaits, Total: MaxState, Offset: uint32(len(r.theirs)), Body: []byte{1}}
				if r.Receive(AppendMessage(nil, &m), now) == nil {
					t.Fatal("a part of one byte was taken")
				}
				r.Step(now)
				stopped += tick
				continue
			}
			begun = now
			switch r.Phase() {
			case Meeting:
				if r.met {
					break
				}
				m := Message{Kind: KindFound, Round: round, Label: g.Newest(), Second: -1}
				_ = r.Receive(AppendMessage(nil, &m), now)
			case Searching:
				m := Message{Kind: KindProbe, Round: round, Label: r.low, Second: r.high}
				n := Probes(r.low, r.high)
				for i := range n {
					m.Known |= 1 << i
					m.Hashes[i], _ = g.Hash(Probe(r.low, r.high, i))
				}
				m.Hashes[n-1]++ // the lie: only the last one differs
				_ = r.Receive(AppendMessage(nil, &m), now)
			case Comparing:
				m := Message{Kind: KindPart, Round: round, Label: r.awaits, Total: MaxState, Offset: uint32(len(r.theirs)), Body: make([]byte, MaxPart)}
				_ = r.Receive(AppendMessage(nil, &m), now)
			}
			r.Step(now)
			stopped += tick
		}
		now += tick
	}
	if r.Phase() != Failed || r.Result() != Silent {
		t.Errorf("after %d s: phase %d, %v", now/1_000_000, r.Phase(), r.Result())
	}
	if stopped < 55_000_000 || stopped > stopLimit+patience {
		t.Errorf("the match stood still for %d ms in %d rounds", stopped/1000, r.Round())
	}
	if sent > 200 || len(r.theirs) > MaxState {
		t.Errorf("%d messages, %d bytes kept", sent, len(r.theirs))
	}
}

// Misuse ends in a failed resolver, never in a panic.
func TestMisuse(t *testing.T) {
	r := New(Config{})
	r.Open(0)
	r.Step(1)
	if r.Phase() != Failed || r.Result() != Silent || r.Receive(AppendMessage(nil, &Message{Kind: KindFound, Round: 1}), 2) == nil {
		t.Errorf("phase %d, %v", r.Phase(), r.Result())
	}
	if Probe(5, 5, 0) != 5 || Probe(7, 3, 2) != 3 || Result(99).String() != "unknown" {
		t.Error("an empty interval")
	}
}
