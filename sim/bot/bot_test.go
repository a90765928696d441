package bot

import (
	"errors"
	"testing"

	"backstep/sim"
)

type outcome struct {
	frames int
	winner sim.Winner
	hash   uint64
	words  [2][]uint16
	events map[sim.EventKind]int
}

// fight lets two bots play a match to its end, or at most limit frames.
func fight(t testing.TB, names [2]string, teams [2]string, seed uint64, limit int) outcome {
	t.Helper()
	c := sim.DefaultConfig()
	c.Seed = seed
	var bots [2]Bot
	for side := range bots {
		team, err := sim.ParseTeam(teams[side])
		if err != nil {
			t.Fatal(err)
		}
		c.Teams[side] = team
		if bots[side], err = New(names[side], seed, side); err != nil {
			t.Fatal(err)
		}
	}
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	o := outcome{events: map[sim.EventKind]int{}}
	var in [2]sim.Input
	for ; o.frames < limit && w.Phase() != sim.PostMatch; o.frames++ {
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(&w), Prev: in[side].Now}
			o.words[side] = append(o.words[side], in[side].Now)
		}
		w.Step(in[:], sim.Emit)
		for _, e := range w.Events() {
			o.events[e.Kind]++
		}
	}
	o.winner, o.hash = w.Match().MatchWinner, w.Hash()
	return o
}

var casts = [][2]string{{"sable", "tarn"}, {"tarn", "gorse"}, {"gorse", "vesper"}, {"vesper", "sable"}, {"sable", "gorse"}, {"tarn", "vesper"},
	{"sable", "sable"}, {"tarn", "tarn"}, {"gorse", "gorse"}, {"vesper", "vesper"}}

// Matches between bots of every skill end, nearly all rounds by knockout, and contain what a fight contains.
func TestMatchesEndByKnockout(t *testing.T) {
	for _, name := range []string{"easy", "medium", "hard"} {
		total := map[sim.EventKind]int{}
		frames, matches := 0, 0
		for n, cast := range casts {
			for seed := range uint64(2) {
				o := fight(t, [2]string{name, name}, cast, seed*10+uint64(n), 40000)
				if o.winner == sim.NoWinner {
					t.Fatalf("%s, %v, seed %d: no end in %d frames", name, cast, seed, o.frames)
				}
				for k, v := range o.events {
					total[k] += v
				}
				frames += o.frames
				matches++
			}
		}
		rounds := total[sim.EventRoundWon]
		t.Logf("%s: %d matches of %d frames, %d rounds, %d by time, %d hits, %d counter-hits, %d blocks, %d grabs, %d techs, %d shots, %d clashes, %d jumps, %d dashes, %d flashes",
			name, matches, frames/matches, rounds, total[sim.EventTimeOver], total[sim.EventHit], total[sim.EventCounterHit], total[sim.EventBlock],
			total[sim.EventGrab], total[sim.EventTech], total[sim.EventShot], total[sim.EventClash], total[sim.EventJump], total[sim.EventDash], total[sim.EventFlash])
		if total[sim.EventTimeOver]*5 > rounds {
			t.Errorf("%s: %d of %d rounds ended by time", name, total[sim.EventTimeOver], rounds)
		}
		for _, k := range []sim.EventKind{sim.EventHit, sim.EventCounterHit, sim.EventBlock, sim.EventGrab, sim.EventShot, sim.EventJump, sim.EventDash, sim.EventFall} {
			if total[k] < matches {
				t.Errorf("%s: only %d times %s in %d matches", name, total[k], k, matches)
			}
		}
	}
}

// A better bot wins most matches against a worse one, on either side.
func TestSkillsAreOrdered(t *testing.T) {
	for _, c := range [][2]string{{"medium", "easy"}, {"hard", "medium"}, {"easy", "idle"}} {
		won, played := 0, 0
		for n, cast := range casts {
			for seed := range uint64(3) {
				better := int(seed+uint64(n)) & 1
				names := [2]string{c[1], c[1]}
				names[better] = c[0]
				o := fight(t, names, cast, 100+seed*7+uint64(n), 40000)
				played++
				if o.winner == sim.Winner(better+1) {
					won++
				}
			}
		}
		t.Logf("%s beats %s in %d of %d", c[0], c[1], won, played)
		if won*3 < played*2 {
			t.Errorf("%s beats %s in only %d of %d matches", c[0], c[1], won, played)
		}
	}
}

// The same name, seed and side give the same match; another seed another one.
func TestDeterministic(t *testing.T) {
	a := fight(t, [2]string{"hard", "medium"}, casts[0], 3, 4000)
	b := fight(t, [2]string{"hard", "medium"}, casts[0], 3, 4000)
	c := fight(t, [2]string{"hard", "medium"}, casts[0], 4, 4000)
	if a.hash != b.hash || a.hash == c.hash {
		t.Fatalf("%x %x %x", a.hash, b.hash, c.hash)
	}
}

// A bot sees the opponent only after its delay: what the opponent did since makes no difference to its word, and then it does.
func TestReactionDelay(t *testing.T) {
	for _, s := range skills {
		if s.delay < 12 || s.delay >= memory {
			t.Errorf("%s reacts after %d frames", s.name, s.delay)
		}
	}
	var live sim.World
	if err := live.Reset(sim.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	for live.Phase() != sim.Live {
		live.Step(nil, sim.Emit)
	}
	for range 5 { // into reach
		live.Step([]sim.Input{{Now: sim.RightBit, Prev: sim.RightBit}, {Now: sim.LeftBit, Prev: sim.LeftBit}}, sim.Emit)
	}
	for _, delay := range []int{0, 2, 5} {
		sure := skill{delay: delay, guard: 100, wait: 100}
		x, y := &player{skill: sure}, &player{skill: sure}
		a, b := live, live
		differ := -1
		for f := range 9 {
			// The opponent of a stands still, that of b attacks.
			if wa, wb := x.Next(&a), y.Next(&b); wa != wb {
				differ = f
				break
			}
			a.Step(nil, sim.Emit)
			b.Step([]sim.Input{{}, {Now: sim.MediumBit}}, sim.Emit)
		}
		if differ != delay+1 {
			t.Errorf("with a delay of %d the first different word comes %d frames after the attack", delay, differ-1)
		}
	}
}

func TestNew(t *testing.T) {
	for _, name := range Names() {
		for side := range 2 {
			b, err := New(name, 1, side)
			if err != nil {
				t.Fatal(err)
			}
			var zero sim.World
			if w := b.Next(&zero); name != "random" && w != 0 {
				t.Errorf("%s presses %#x in no match", name, w)
			}
		}
	}
	if _, err := New("nobody", 1, 0); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	if _, err := New("easy", 1, 2); !errors.Is(err, ErrSide) {
		t.Fatal(err)
	}
}

// Words are such that a trace could hold them: bits 0…11, no opposite directions from the bots that play.
func TestWords(t *testing.T) {
	for _, name := range Names() {
		o := fight(t, [2]string{name, "medium"}, casts[0], 9, 6000)
		for f, w := range o.words[0] {
			if w&0xf000 != 0 || (name != "random" && sim.Clean(w) != w) {
				t.Fatalf("%s, frame %d: %#x", name, f, w)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	c := sim.DefaultConfig()
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	a, _ := New("hard", 1, 0)
	b, _ := New("random", 1, 1)
	var in [2]sim.Input
	if n := testing.AllocsPerRun(2000, func() {
		in[0], in[1] = sim.Input{Now: a.Next(&w), Prev: in[0].Now}, sim.Input{Now: b.Next(&w), Prev: in[1].Now}
		w.Step(in[:], sim.Emit)
	}); n != 0 {
		t.Fatalf("a frame allocates %.1f times", n)
	}
}

func BenchmarkNext(b *testing.B) {
	var w sim.World
	if err := w.Reset(sim.DefaultConfig()); err != nil {
		b.Fatal(err)
	}
	for w.Phase() != sim.Live {
		w.Step(nil, sim.Emit)
	}
	bot, _ := New("hard", 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		bot.Next(&w)
	}
}
