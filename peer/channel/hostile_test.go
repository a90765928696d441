package channel

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Attack 21: an authenticated opponent who says whatever it likes. Memory is bounded by the table, nothing panics, and
// what breaks a rule is refused with its packet.
func TestHostileOpponent(t *testing.T) {
	m := New(Config{Spectator: Viewer})
	item := func(it Item) error { return m.Check(AppendSection(nil, []Item{it})) }
	if err := item(Item{MatchState, 16, 0, 1, []byte{1}}); !errors.Is(err, ErrWindow) {
		t.Errorf("beyond the window: %v", err)
	}
	if err := item(Item{MatchState, 1<<15 - 1, 0, 1, []byte{1}}); !errors.Is(err, ErrWindow) {
		t.Errorf("far beyond the window: %v", err)
	}
	if err := item(Item{MatchState, 1 << 15, 0, 1, []byte{1}}); err != nil {
		t.Errorf("a number of the past: %v", err)
	}
	m.Receive(AppendSection(nil, []Item{{MatchState, 15, 0, 3, payload(256, 0)}}), 1)
	if err := item(Item{MatchState, 15, 1, 2, []byte{1}}); !errors.Is(err, ErrConflict) {
		t.Errorf("another length: %v", err)
	}

	// A 64 KB message cannot even be said; 2 KB ones of which a fragment is always missing hold their slots and no more.
	var before, after runtime.MemStats
	rng := rand.New(rand.NewPCG(1, 2))
	var sections [][]byte
	for range 5000 {
		n := rng.IntN(MaxSection + 100)
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 {
			ch := byPriority[rng.IntN(len(byPriority))]
			row := ch.Row()
			count := 1 + rng.IntN(row.fragments())
			index := rng.IntN(max(count-1, 1))
			b = AppendSection(nil, []Item{{ch, uint16(rng.IntN(40)), uint8(index), uint8(count), payload(256, byte(n))}})
		}
		sections = append(sections, b)
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i, b := range sections {
		if m.Check(b) == nil {
			m.Receive(b, int64(i)*1000)
		}
		for {
			if _, _, ok := m.Next(); !ok {
				break
			}
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<16 {
		t.Errorf("%d bytes allocated", got)
	}
}

// Messages that come faster than the table allows are thrown away and counted; those of a peer that keeps to it never
// are, not even all at once after an outage.
func TestFloods(t *testing.T) {
	m := New(Config{})
	number, got := uint16(0), 0
	flood := func(at int64, n int) {
		for range n {
			b := AppendSection(nil, []Item{{ChatPresence, number, 0, 1, []byte{1}}})
			if err := m.Check(b); err != nil {
				t.Fatal(err)
			}
			m.Receive(b, at)
			got += len(drain(m))
			number++
		}
	}
	flood(1_000_000, 16) // a window after an outage
	for i := range 100 { // then a clock that is 20 % fast
		flood(1_000_000+int64(i)*83_333, 1)
	}
	if s := m.Stats(ChatPresence); s.Flooded != 0 || got != 116 {
		t.Errorf("an honest sender: %d taken, %+v", got, s)
	}
	got = 0
	flood(10_000_000, 10_000)
	for i := range 600 {
		flood(10_000_000+int64(i)*tick, 5)
	}
	if limit := 2*16 + 10*10*5/4 + 5; got > limit {
		t.Errorf("%d messages in ten seconds, at most %d", got, limit)
	}
	if s := m.Stats(ChatPresence); s.Flooded == 0 || s.Received != uint64(got+116) {
		t.Errorf("%+v", s)
	}
}
