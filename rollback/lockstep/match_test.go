package lockstep

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// LOCK-04, LOCK-05, LOCK-23, LOCK-24, MODE-01: one to four players with different clocks and rates of calling, over links that lose,
// double and hold up packets: everybody runs the same commands in the same frames, each for every player, to the
// same digests, at 25 Hz where the links are short.
func TestMatches(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		players := 1 + rng.IntN(4)
		f := newField(t, seed, players, 40)
		f.loss, f.way, f.jit = rng.IntN(40), rng.Int64N(60_000), rng.Int64N(60_000)
		f.busy = 1 + rng.IntN(6)
		f.run(20_000_000)
		f.same(100)
		for _, s := range f.sides {
			if s.Desynced() || s.Stats().Malformed != 0 {
				t.Errorf("seed %d: %+v", seed, s.Stats())
			}
		}
	}
	f := newField(t, 99, 2, 40)
	for _, s := range f.sides {
		s.step = 4000
	}
	f.run(20_000_000)
	f.same(490)
	if w := f.sides[0].Stats().Waits; w > 10 {
		t.Errorf("with commands two frames ahead and 20 ms one way, %d frames waited", w)
	}
}

// LOCK-23: the match goes as fast as the slowest player's commands arrive.
func TestSlowestPlayerSetsThePace(t *testing.T) {
	f := newField(t, 3, 3, 8)
	f.way = 200_000
	f.run(10_000_000)
	f.same(60)
	for _, s := range f.sides {
		// Two frames ahead over 200 ms: three frames in about 200 ms of way and up to 60 ms of waiting for ticks.
		if s.Frame() > 160 || s.Stats().Waits == 0 {
			t.Errorf("frame %d, %d waits", s.Frame(), s.Stats().Waits)
		}
	}
}

// LOCK-12, LOCK-16, LOCK-17, LOCK-18, LOCK-25, G-22, V-35: one moved unit on a guest is found in that frame by its digest. The
// guest drops everything from four frames before on, fetches the host's snapshot, replays, and has the host's digests again.
func TestDesyncIsRecovered(t *testing.T) {
	hosts := 0
	for seed := range uint64(12) {
		f := newField(t, seed, 2+int(seed)%3, 3000)
		f.loss, f.jit = 10, 20_000
		f.sides[1].army.stray = 250
		found := int32(-1)
		for range 2000 {
			f.run(10_000)
			if s := f.sides[1]; found < 0 && s.Desynced() {
				frame, _, _ := s.Difference()
				found = frame
				if s.Status() != Recovering {
					t.Errorf("seed %d: %v", seed, s.Status())
				}
				for n := frame - RecoveryRollbackFrames; n <= frame; n++ {
					if _, ok := s.DigestOf(n); ok {
						t.Errorf("seed %d: the digest of frame %d is kept, the difference is at %d", seed, n, frame)
					}
				}
				if _, ok := s.DigestOf(frame - RecoveryRollbackFrames - 1); !ok {
					t.Errorf("seed %d: too much is dropped", seed)
				}
				for _, x := range s.snaps.list[:s.snaps.n] {
					if x.Label >= frame-RecoveryRollbackFrames {
						t.Errorf("seed %d: the snapshot of frame %d is kept", seed, x.Label)
					}
				}
			}
		}
		if found < 250 || found > 250+8 {
			t.Errorf("seed %d: found at frame %d, it was made at 250", seed, found)
		}
		if st := f.sides[1].Stats(); st.Recoveries != 1 || st.Desyncs != 1 {
			t.Errorf("seed %d: %+v", seed, st)
		}
		if f.sides[0].Stats().Recoveries != 0 {
			t.Errorf("seed %d: the host took something over", seed)
		}
		if f.sides[0].Desynced() {
			hosts++
		}
		f.same(400)
		if d, _ := f.sides[1].Checkpoint(300); d != f.sides[0].log[300] {
			t.Errorf("seed %d: checkpoint %016x", seed, d)
		}
	}
	// A guest that has found it speaks of no digest any more, so a host may miss it.
	if hosts < 6 {
		t.Errorf("%d of 12 hosts saw the difference", hosts)
	}
}

// V-35: a difference at frame 500 goes back to 496.
func TestRecoveryGoesBackFourFrames(t *testing.T) {
	s, err := New(newArmy(4), Config{Match: Match{Players: 2}, Local: 1}, mailbox{newField(t, 1, 1, 1), 1})
	if err != nil {
		t.Fatal(err)
	}
	for s.cur < 520 {
		s.seal()
		s.known[0] = s.known[1]
		s.step()
	}
	s.compareOrKeep(0, mark{500, 1})
	for n, want := range map[int32]bool{495: true, 496: false, 500: false, 520: false} {
		if _, ok := s.DigestOf(n); ok != want {
			t.Errorf("digest of frame %d: %v", n, ok)
		}
	}
	if _, ok := s.Checkpoint(500); ok || s.incoming.wanted != 495 || s.snaps.list[s.snaps.n-1].Label != 474 {
		t.Errorf("asks for %d, newest snapshot %d", s.incoming.wanted, s.snaps.list[s.snaps.n-1].Label)
	}
}

// LOCK-25: a game that differs in every frame is not recovered for ever; the match ends with an error that says so.
func TestDesyncIsNeverIgnored(t *testing.T) {
	f := newField(t, 4, 2, 10)
	f.sides[1].army.broken = true
	f.run(20_000_000)
	if s := f.sides[1]; !errors.Is(s.Err(), ErrDesync) || s.Stats().Recoveries != maxRecoveries {
		t.Errorf("%v after %d recoveries", s.Err(), s.Stats().Recoveries)
	}
}

// LOCK-19: somebody who comes late, to watch or back to its own place with nothing, takes over a snapshot, replays the bundles
// after it and has the host's digests. What it ordered before it went is not lost and not contradicted.
func TestLateJoiners(t *testing.T) {
	for seed := range uint64(12) {
		f := newField(t, seed, 3, 4000)
		f.loss, f.jit = 15, 30_000
		f.run(8_000_000)
		watcher := f.join(5, newArmy(4000), Config{Late: true})
		f.run(4_000_000)
		if st := watcher.Status(); st != Running && st != Waiting {
			t.Errorf("seed %d: the observer is %v at %d", seed, watcher.Status(), watcher.Frame())
		}
		f.cut[2] = true
		f.run(1_000_000)
		at := f.sides[0].Frame()
		f.cut[2] = false
		back := f.join(2, newArmy(4000), Config{Late: true, Life: 1})
		if back.Status() != Joining || back.Add(Command{Name: "move"}) != nil {
			t.Error("not joining")
		}
		f.run(15_000_000)
		if back.Status() == Joining {
			t.Errorf("seed %d: still joining at %d, the host at %d", seed, back.Frame(), f.sides[0].Frame())
		}
		f.same(at + 60)
		for _, s := range f.sides {
			if s.Desynced() {
				t.Errorf("seed %d: side %d found a difference", seed, s.slot)
			}
		}
	}
}

// LOCK-19: exactly the frame asked for, or the nearest earlier one.
func TestSnapshotAt(t *testing.T) {
	var s snapshots
	for label := int32(-1); label < 300; label += 25 {
		s.add(label, uint64(label), 0, 0, func(b []byte) []byte { return append(b, byte(label)) })
	}
	for frame, want := range map[int32]int32{299: 299, 274: 274, 273: 249, 1 << 29: 299, 124: 124} {
		if x, err := s.at(frame); err != nil || x.Label != want || x.State[0] != byte(want) {
			t.Errorf("for %d: %+v %v", frame, x, err)
		}
	}
	if _, err := s.at(123); !errors.Is(err, ErrNoSnapshot) {
		t.Errorf("older than all: %v", err)
	}
	if s.drop(200); s.list[s.n-1].Label != 199 {
		t.Errorf("newest after dropping: %d", s.list[s.n-1].Label)
	}
}

// LOCK-20, V-36: three seconds without a player's commands are a wait, more exceed the threshold and flag the match; it goes on when
// they come.
func TestPauseThreshold(t *testing.T) {
	f := newField(t, 6, 2, 4)
	s := f.sides[0].Session
	for now := int64(0); s.Status() != Waiting; now += 1000 {
		s.Tick(now)
	}
	from := s.waitFrom
	s.Tick(from + MaxInputWaitMicros)
	if s.Status() != Waiting || s.Flagged() {
		t.Errorf("%v after 3 s", s.Status())
	}
	s.Tick(from + MaxInputWaitMicros + 1)
	if s.Status() != PauseExceeded || !s.Flagged() {
		t.Errorf("%v after more than 3 s", s.Status())
	}
	f.now = from + MaxInputWaitMicros + 2
	f.sides[1].next = f.now
	f.run(5_000_000)
	f.same(50)
	if s.Status() == PauseExceeded || !s.Flagged() {
		t.Errorf("%v, flagged %v, after it went on", s.Status(), s.Flagged())
	}
}

// LOCK-26: bytes grow with commands, not with units.
func TestBandwidthGrowsWithInputsOnly(t *testing.T) {
	bytes := func(units, busy int) int64 {
		f := newField(t, 8, 2, units)
		f.busy = busy
		f.run(10_000_000)
		f.same(240)
		return f.sides[0].Stats().SentBytes
	}
	few, many, orders := bytes(10, 1000), bytes(50_000, 1000), bytes(10, 1)
	if few != many || orders < few*3/2 {
		t.Errorf("%d bytes with 10 units, %d with 50 000, %d with an order in every frame", few, many, orders)
	}
}

// S-13: a player that says two things about one frame ends the match.
func TestConflict(t *testing.T) {
	f := newField(t, 9, 2, 4)
	f.run(2_000_000)
	s, f0 := f.sides[0], f.sides[0].known[1]
	b := appendTurn(nil, &turn{player: 1, known: s.known, done: -1}, 2)
	b = append(b, 1, 1, byte(f0), byte(f0>>8), byte(f0>>16), byte(f0>>24), 1)
	b = appendBundle(b, []Command{{Player: 1, Name: "betray", Primary: 1}})
	if err := s.Receive(b, f.now); !errors.Is(err, ErrConflict) || !errors.Is(s.Err(), ErrConflict) {
		t.Errorf("%v, %v", err, s.Err())
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []Config{
		{}, {Match: Match{Players: 5}}, {Match: Match{Players: 2}, Local: 8}, {Match: Match{Players: 2}, Delay: 9},
		{Match: Match{Players: 2}, Late: true}, {Match: Match{Players: 2}, Local: -1},
	} {
		if _, err := New(newArmy(1), c, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	s, _ := New(newArmy(1), Config{Match: Match{Players: 1}}, nil)
	for _, name := range []string{"", "two words", "ünïcode", string(make([]byte, 40))} {
		if err := s.Add(Command{Name: name}); !errors.Is(err, ErrCommand) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Commands that wait for a bundle are bounded, and the frames that run make room for more.
func TestBacklog(t *testing.T) {
	s, err := New(newArmy(1), Config{Match: Match{Players: 1}}, nowhere{})
	if err != nil {
		t.Fatal(err)
	}
	fill := func() (n int) {
		for s.Add(Command{Name: "move"}) == nil {
			n++
		}
		return n
	}
	if n := fill(); n != maxOutbox || !errors.Is(s.Add(Command{Name: "move"}), ErrBacklog) {
		t.Errorf("%d commands were taken", n)
	}
	s.Tick(0)
	s.Tick(FrameMicros)
	if n := fill(); n == 0 || n > maxOutbox {
		t.Errorf("a frame made room for %d commands", n)
	}
}

// In the steady state a frame of a match allocates nothing here.
func TestFramesDoNotAllocate(t *testing.T) {
	s, err := New(newArmy(8), Config{Match: Match{Players: 2}}, nowhere{})
	if err != nil {
		t.Fatal(err)
	}
	now := int64(0)
	pkt := make([]byte, 0, MaxPacket)
	orders := []Command{{Player: 1, Name: "move", Primary: 5}}
	frame := func() {
		now += FrameMicros
		if err := s.Add(Command{Name: "build", Target: 3}); err != nil {
			t.Fatal(err)
		}
		f := s.known[1] + 1
		pkt = append(appendTurn(pkt[:0], &turn{player: 1, known: s.known, done: -1}, 2), 1, 1, byte(f), byte(f>>8), byte(f>>16), 0, 1)
		pkt = appendBundle(pkt, orders)
		if err := s.Receive(pkt, now); err != nil {
			t.Fatal(err)
		}
		s.Tick(now)
	}
	for range 600 {
		frame()
	}
	before := s.Frame()
	if n := testing.AllocsPerRun(500, frame); n != 0 || s.Frame() < before+400 {
		t.Errorf("%v allocations a frame, %d frames", n, s.Frame()-before)
	}
}

type nowhere struct{}

func (nowhere) Send(int, []byte) {}
