package match

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"backstep/fec"
	"backstep/peer/setup"
	"backstep/rollback/wire"
	"backstep/sim"
)

const second = 1_000_000

// offline plays the inputs without a network.
func offline(t *testing.T, m setup.Match, inputs [][2]uint16) uint64 {
	t.Helper()
	c := sim.Config{Seed: m.Seed, Ruleset: sim.Ruleset(m.Ruleset), Format: sim.Format(m.Format), Rounds: m.Rounds}
	for side, team := range m.Teams {
		for i, id := range team {
			c.Teams[side][i] = sim.FighterID(id)
		}
	}
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	var prev [2]uint16
	for _, in := range inputs {
		w.Step([]sim.Input{{Now: in[0], Prev: prev[0]}, {Now: in[1], Prev: prev[1]}}, sim.TelemetryOnly)
		prev = in
	}
	return w.Hash()
}

// TestThousandMatches plays 1000 matches of 600 frames in virtual time with
// random loss, jitter, duplication, reordering and start offsets: both sides
// must end complete, with one hash, equal to the offline run.
func TestThousandMatches(t *testing.T) {
	const matches, frames = 1000, 600
	work := make(chan uint64)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed := range work {
				if err := oneMatch(t, seed, frames); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	for seed := range uint64(matches) {
		work <- seed
	}
	close(work)
	group.Wait()
}

func oneMatch(t *testing.T, seed uint64, frames int32) error {
	rng := rand.New(rand.NewPCG(seed, 99))
	random := func() network {
		return network{delay: rng.Int64N(120_000), jitter: 1 + rng.Int64N(40_000), loss: rng.Float64() * 0.3, dup: rng.Float64() * 0.1}
	}
	var inputs [2][][2]uint16
	var players [2]player
	for side := range players {
		players[side] = player{
			net:   random(),
			start: rng.Int64N(2 * second),
			config: func(c *Config) {
				c.InputDelay = rng.IntN(4)
				c.FEC = []fec.Mode{fec.Off, fec.XOR, fec.Auto}[rng.IntN(3)]
				c.Window = 4 + rng.IntN(12)
				c.Observer.Settled = func(f int32, w [2]uint16, _ *World) {
					if int(f) != len(inputs[side]) {
						t.Errorf("seed %d: frame %d settled after %d frames", seed, f, len(inputs[side]))
					}
					inputs[side] = append(inputs[side], w)
				}
			},
		}
	}
	d := newDuel(seed, frames, players)
	if !d.run(120 * second) {
		return fmt.Errorf("deadlock: frames %d and %d", d.loops[0].Outcome().Confirmed, d.loops[1].Outcome().Confirmed)
	}
	a, b := d.outcomes()
	if a.End != EndFrames || b.End != EndFrames || a.Err != nil || b.Err != nil {
		return fmt.Errorf("ended with %v (%v) and %v (%v)", a.End, a.Err, b.End, b.Err)
	}
	if a.Frames != int(frames) || a.Confirmed != int(frames) || b.Frames != int(frames) || b.Confirmed != int(frames) {
		return fmt.Errorf("frames %d/%d and %d/%d", a.Frames, a.Confirmed, b.Frames, b.Confirmed)
	}
	if want := offline(t, a.Match, inputs[0]); a.FinalHash != b.FinalHash || a.FinalHash != want {
		return fmt.Errorf("hashes %016x and %016x, offline %016x", a.FinalHash, b.FinalHash, want)
	}
	if a.Match != b.Match {
		return errors.New("the two sides agreed on different matches")
	}
	return nil
}

func wan() network { return network{delay: 40_000, jitter: 5_000, loss: 0.02} }

// TestMatchOver: without a number of frames the match ends for both at the
// first frame of PostMatch.
func TestMatchOver(t *testing.T) {
	players := [2]player{{net: wan(), source: presser(0x50)}, {net: wan(), source: presser(0)}}
	d := newDuel(1, 0, players)
	if !d.run(600 * second) {
		t.Fatal("the match never ended")
	}
	a, b := d.outcomes()
	if a.End != EndMatchOver || b.End != EndMatchOver || a.FinalHash != b.FinalHash || a.Frames != b.Frames {
		t.Fatalf("%v at %d and %v at %d, hashes %x %x", a.End, a.Frames, b.End, b.Frames, a.FinalHash, b.FinalHash)
	}
	w, _ := d.loops[0].Driver().State(int32(a.Frames) - 1)
	before, _ := d.loops[0].Driver().State(int32(a.Frames) - 2)
	if w.Phase() != sim.PostMatch || before.Phase() == sim.PostMatch {
		t.Fatalf("last phases %v, %v", before.Phase(), w.Phase())
	}
}

// presser walks forward and repeats its buttons.
type presser uint16

func (p presser) Next(f int32, w *sim.World) uint16 {
	if p == 0 {
		return 0
	}
	word := uint16(8)
	if f%12 < 2 {
		word |= uint16(p)
	}
	return word
}

// TestAdoptsFrames: a side that asks for no number plays what the other does.
func TestAdoptsFrames(t *testing.T) {
	players := [2]player{{net: wan()}, {net: wan(), offer: func(o *setup.Offer) { o.Frames = 0 }, config: func(c *Config) { c.Frames = 0 }}}
	d := newDuel(3, 300, players)
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	if a, b := d.outcomes(); a.End != EndFrames || b.End != EndFrames || b.Frames != 300 || a.FinalHash != b.FinalHash {
		t.Fatalf("%v %d, %v %d", a.End, a.Frames, b.End, b.Frames)
	}
}

func TestVanishedOpponent(t *testing.T) {
	players := [2]player{{net: network{delay: 20_000}}, {net: network{delay: 20_000, cutFrom: 5 * second, cut: 1 << 40}}}
	players[0].net.cutFrom, players[0].net.cut = 5*second, 1<<40
	d := newDuel(4, 3600, players)
	if !d.run(60 * second) {
		t.Fatal("never gave up")
	}
	a, b := d.outcomes()
	for _, o := range []Outcome{a, b} {
		if o.End != EndTimeout || !errors.Is(o.Err, ErrTimeout) || o.HasFinal {
			t.Fatalf("%v %v", o.End, o.Err)
		}
	}
}

// TestOutage: three seconds without a packet stall the match and nothing more.
func TestOutage(t *testing.T) {
	n := network{delay: 20_000, cutFrom: 5 * second, cut: 3 * second}
	d := newDuel(5, 900, [2]player{{net: n}, {net: n}})
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	a, b := d.outcomes()
	if a.End != EndFrames || b.End != EndFrames || a.FinalHash != b.FinalHash {
		t.Fatalf("%v %v", a.End, b.End)
	}
	if a.Stats.Session.LongestStall < 100 {
		t.Fatalf("longest stall %d ticks, 3 s were cut", a.Stats.Session.LongestStall)
	}
}

// TestFrozenProcess: one side does not run for two seconds and continues.
func TestFrozenProcess(t *testing.T) {
	d := newDuel(6, 900, [2]player{{net: wan()}, {net: wan()}})
	d.run(6 * second)
	if d.ended[0] || d.ended[1] {
		t.Fatal("ended early")
	}
	d.next[1] += 2 * second
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	if a, b := d.outcomes(); a.End != EndFrames || b.End != EndFrames || a.FinalHash != b.FinalHash {
		t.Fatalf("%v %v", a.End, b.End)
	}
}

// TestOwnPauseIsNoSilence: a side that did not run for longer than its timeout could not hear the opponent, who has more patience.
// Both finish. With a line that is cut meanwhile it does not wait for ever.
func TestOwnPauseIsNoSilence(t *testing.T) {
	patient := func(c *Config) { c.Timeout = 60 * second }
	d := newDuel(6, 900, [2]player{{net: wan(), config: patient}, {net: wan()}})
	d.run(6 * second)
	d.next[1] += 25 * second
	if !d.run(90 * second) {
		t.Fatal("deadlock")
	}
	if a, b := d.outcomes(); a.End != EndFrames || b.End != EndFrames || a.FinalHash != b.FinalHash {
		t.Fatalf("%v %v, %v %v", a.End, a.Err, b.End, b.Err)
	}
	n := wan()
	n.cutFrom, n.cut = 7*second, 1<<40
	d = newDuel(6, 900, [2]player{{net: n, config: patient}, {net: n}})
	d.run(6 * second)
	d.next[1] += 25 * second
	if !d.run(120 * second) {
		t.Fatal("never gave up")
	}
	if _, b := d.outcomes(); b.End != EndTimeout {
		t.Errorf("%v %v", b.End, b.Err)
	}
}

// TestTimeoutIsSaid: whoever gives up says so, and an opponent with more patience need not use it up.
func TestTimeoutIsSaid(t *testing.T) {
	n := wan()
	n.cutFrom, n.cut = 5*second, 1<<40 // what side 0 sends
	d := newDuel(7, 3600, [2]player{{net: n, config: func(c *Config) { c.Timeout = 60 * second }}, {net: wan()}})
	if !d.run(30 * second) {
		t.Fatal("the patient side waits although it was told")
	}
	a, b := d.outcomes()
	if a.End != EndLeft || b.End != EndTimeout {
		t.Errorf("%v %v, %v %v", a.End, a.Err, b.End, b.Err)
	}
}

func TestInterrupt(t *testing.T) {
	d := newDuel(7, 3600, [2]player{{net: wan()}, {net: wan()}})
	d.run(5 * second)
	d.loops[1].Interrupt()
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	a, b := d.outcomes()
	if b.End != EndInterrupt || !errors.Is(b.Err, ErrInterrupted) {
		t.Fatalf("the interrupted: %v %v", b.End, b.Err)
	}
	if a.End != EndLeft || !errors.Is(a.Err, ErrOpponentLeft) {
		t.Fatalf("the other: %v %v", a.End, a.Err)
	}
}

func TestBrokenPipe(t *testing.T) {
	d := newDuel(8, 3600, [2]player{{net: wan()}, {net: wan()}})
	d.run(5 * second)
	d.pipes[0].broken, d.pipes[1].broken = true, true
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	if a, b := d.outcomes(); a.End != EndLeft || b.End != EndLeft {
		t.Fatalf("%v %v", a.End, b.End)
	}
}

func TestIncompatibleEndsBoth(t *testing.T) {
	d := newDuel(9, 600, [2]player{{net: wan()}, {net: wan(), offer: func(o *setup.Offer) { o.Sim++ }}})
	if !d.run(30 * second) {
		t.Fatal("deadlock")
	}
	a, b := d.outcomes()
	if a.End != EndVersion || !strings.Contains(a.Err.Error(), "this side is older") {
		t.Fatalf("host: %v %v", a.End, a.Err)
	}
	if b.End != EndVersion || !errors.Is(b.Err, setup.ErrIncompatible) {
		t.Fatalf("joiner: %v %v", b.End, b.Err)
	}
}

// TestDesyncIsFound plants a difference in one side's state.
func TestDesyncIsFound(t *testing.T) {
	var d *duel
	cheat := func(f int32, _ [2]uint16, _ *World) {
		if f == 200 {
			s := d.loops[1].Driver().Session()
			w, _ := s.State(f)
			other := *w
			other.Step([]sim.Input{{}, {}}, sim.TelemetryOnly)
			if err := s.Restore(f, &other); err != nil {
				t.Error(err)
			}
		}
	}
	d = newDuel(10, 900, [2]player{{net: wan()}, {net: wan(), config: func(c *Config) { c.Observer.Settled = cheat }}})
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	a, b := d.outcomes()
	if a.End != EndDesync || b.End != EndDesync || a.Desyncs == 0 || len(a.Events)+len(b.Events) == 0 {
		t.Fatalf("%v (%v) and %v (%v)", a.End, a.Err, b.End, b.Err)
	}
}

// TestGarbage: packets that no honest side sends are counted and change nothing.
func TestGarbage(t *testing.T) {
	d := newDuel(11, 600, [2]player{{net: wan()}, {net: wan()}})
	rng := rand.New(rand.NewPCG(11, 11))
	for i := int64(2); i < 12; i++ {
		d.run(i * second)
		for range 50 {
			b := make([]byte, 1+rng.IntN(80))
			for k := range b {
				b[k] = byte(rng.Uint32())
			}
			if i%2 == 0 {
				b[0] = 'V'
			}
			d.pipes[0].Send(b)
			d.pipes[1].Send(AppendControl(nil, b))
		}
	}
	if !d.run(60 * second) {
		t.Fatal("deadlock")
	}
	a, b := d.outcomes()
	if a.End != EndFrames || b.End != EndFrames || a.FinalHash != b.FinalHash {
		t.Fatalf("%v (%v) %v (%v)", a.End, a.Err, b.End, b.Err)
	}
	if b.Malformed == 0 || a.Malformed == 0 {
		t.Fatalf("malformed %d and %d", a.Malformed, b.Malformed)
	}
}

func TestMatchLoopAllocations(t *testing.T) {
	if n := MeasureAllocs(); n != 0 {
		t.Fatalf("%.3f allocations a frame", n)
	}
}

func TestMessages(t *testing.T) {
	d := done{3600, 0x1122334455667788}
	if got, ok := parseDone(appendDone(nil, d)); !ok || got != d {
		t.Errorf("done: %+v", got)
	}
	m := bye{byeDesync, 77}
	if got, ok := parseBye(appendBye(nil, m)); !ok || got != m {
		t.Errorf("bye: %+v", got)
	}
	for _, bad := range [][]byte{nil, {kindDone}, appendDone([]byte{0}, d), append(appendDone(nil, d), 0), {kindBye, byte(byeReasons), 0, 0, 0, 0}, {kindBye, 0}} {
		if _, ok := parseDone(bad); ok {
			t.Errorf("done took %x", bad)
		}
		if _, ok := parseBye(bad); ok {
			t.Errorf("bye took %x", bad)
		}
	}
}

// withholder passes packets on, but from a moment on without their inputs.
type withholder struct {
	*virtualPipe
	from int
	n    int
	buf  [wire.MaxPacket]byte
}

func (p *withholder) Send(b []byte) {
	var pkt wire.Packet
	ref := wire.Ref{Frame: 200}
	if p.n++; p.n > p.from && wire.IsCompact(b) && wire.ParseCompact(b, &pkt, ref) == nil {
		pkt.Count, pkt.First, pkt.Inputs, pkt.Current = 0, 0, nil, false
		b = wire.AppendCompact(p.buf[:0], &pkt, ref)
	}
	p.virtualPipe.Send(b)
}

// An opponent whose packets keep coming without inputs ends the match after 20 seconds and the first, not never; attack
// case 21.
func TestWithheldInputs(t *testing.T) {
	d := newDuel(77, 600, [2]player{{net: network{delay: 20_000}}, {net: network{delay: 20_000}}})
	evil := &withholder{virtualPipe: d.pipes[1], from: 200}
	d.loops[1].pipe = evil
	if !d.run(120 * second) {
		t.Fatal("the match does not end")
	}
	a, _ := d.outcomes()
	if a.End != EndTimeout || !errors.Is(a.Err, ErrTimeout) || a.Confirmed < 100 || a.Confirmed > 300 {
		t.Errorf("%v (%v) after %d frames", a.End, a.Err, a.Confirmed)
	}
	if at := d.pipes[0].now; at < 22*second || at > 30*second {
		t.Errorf("it ended at %d", at)
	}
}
