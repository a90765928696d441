package present

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"backstep/sim"
	"backstep/sim/bot"
)

func fight(t *testing.T, frames int, visit func(w *sim.World)) uint64 {
	t.Helper()
	var w sim.World
	if err := w.Reset(sim.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	var bots [2]bot.Bot
	for side := range bots {
		b, err := bot.New("hard", 7, side)
		if err != nil {
			t.Fatal(err)
		}
		bots[side] = b
	}
	var in [2]sim.Input
	for range frames {
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(&w), Prev: in[side].Now}
		}
		w.Step(in[:], sim.Emit)
		if visit != nil {
			visit(&w)
		}
	}
	return w.Hash()
}

// HASH-08, SIM-08, PRES-02, PRES-03: showing a match at any rate leaves its hash as it
// is, and every view lies between the two snapshots.
func TestInterpolationLeavesTheSimulationAlone(t *testing.T) {
	const frames = 1200
	want := fight(t, frames, nil)
	for _, hz := range []int{60, 120, 144, 30, 37} {
		var p World
		var s State
		shown, clock, display := 0, 0.0, 0.0
		got := fight(t, frames, func(w *sim.World) {
			before := w.Hash()
			s.Take(w)
			p.SubmitSimSnapshot(&s)
			for clock += StepSeconds; display+1/float64(hz) <= clock; display += 1 / float64(hz) {
				v := p.TickPresentation(1 / float64(hz))
				shown++
				previous, current, _ := p.Snapshots()
				for i := range v.Count {
					a, b := at(&previous.Fighters[i]), at(&current.Fighters[i])
					if x := v.Fighters[i].X; x < min(a.X, b.X) || x > max(a.X, b.X) {
						t.Fatalf("%d Hz, frame %d: x %v outside %v…%v", hz, v.Frame, x, a.X, b.X)
					}
				}
			}
			if w.Hash() != before {
				t.Fatalf("%d Hz: frame %d was changed by showing it", hz, w.Frame())
			}
		})
		if got != want {
			t.Errorf("%d Hz: hash %016x, want %016x", hz, got, want)
		}
		if most := frames * hz / sim.SimulationHz; shown < most-2 || shown > most+2 {
			t.Errorf("%d Hz: %d pictures of %d frames", hz, shown, frames)
		}
	}
}

func state(frame int32, x sim.Fixed) *State {
	s := &State{Frame: frame, Count: 2, Point: [2]uint8{0, 1}}
	s.Fighters[0].X = x
	return s
}

// PRES-01: exactly two snapshots; PRES-06: a frame submitted again replaces
// what is there.
func TestSubmit(t *testing.T) {
	var p World
	look := func(frame int32, pair bool, from, to sim.Fixed) {
		t.Helper()
		previous, current, got := p.Snapshots()
		if current.Frame != frame || got != pair || previous.Fighters[0].X != from || current.Fighters[0].X != to {
			t.Fatalf("frame %d pair %v from %d to %d", current.Frame, got, previous.Fighters[0].X, current.Fighters[0].X)
		}
	}
	p.SubmitSimSnapshot(state(5, 50))
	look(5, false, 50, 50)
	p.SubmitSimSnapshot(state(6, 60))
	look(6, true, 50, 60)
	p.SubmitSimSnapshot(state(5, 51))
	p.SubmitSimSnapshot(state(6, 61))
	look(6, true, 51, 61)
	p.SubmitSimSnapshot(state(7, 70))
	look(7, true, 61, 70)
	p.SubmitSimSnapshot(state(5, 1)) // older than what is shown
	look(7, true, 61, 70)
	p.SubmitSimSnapshot(state(20, 200)) // a jump
	look(20, false, 200, 200)
	p.SubmitSimSnapshot(state(3, 30)) // and one back
	look(3, false, 30, 30)
	p.Reset()
	if v := p.TickPresentation(1); v.Count != 0 {
		t.Fatal("something is shown after a reset")
	}
}

func TestTrail(t *testing.T) {
	var p World
	for f := range int32(40) {
		s := state(f, 0)
		s.Fighters[0].Word, s.Fighters[1].Code = uint16(f), Startup
		p.SubmitSimSnapshot(s)
		p.Mark(0, f-3, false)
	}
	s := state(37, 0)
	s.Fighters[0].Word = 99
	p.SubmitSimSnapshot(s)
	p.Mark(3, 36, true)
	trail := p.AppendTrail(nil)
	if len(trail) != TrailFrames {
		t.Fatalf("%d frames", len(trail))
	}
	last := trail[TrailFrames-1]
	if last.Words[0] != 39 || last.Codes[1] != Startup || last.Depth != 3 || last.Bits != Predicted|Stalled {
		t.Errorf("newest %+v", last)
	}
	if again := trail[TrailFrames-3]; again.Words[0] != 99 || again.Bits != Predicted|Resimulated {
		t.Errorf("stepped again %+v", again)
	}
	if old := trail[0]; old.Bits != 0 || old.Words[0] != 40-TrailFrames {
		t.Errorf("oldest %+v", old)
	}
}

// PRES-05.
func TestRecoveryOverlay(t *testing.T) {
	var p World
	p.SubmitSimSnapshot(state(0, 0))
	p.ShowRecoveryOverlay("Recovering Connection…")
	if v := p.TickPresentation(0.01); v.Overlay != "Recovering Connection…" {
		t.Errorf("overlay %q", v.Overlay)
	}
	p.ClearRecoveryOverlay()
	if v := p.TickPresentation(0.01); v.Overlay != "" {
		t.Errorf("overlay %q", v.Overlay)
	}
}

var update = flag.Bool("update", false, "write docs/vectors/present.json")

// vector is an example for everybody who draws snapshots.
type vector struct {
	From  [2]float64 `json:"from"`
	To    [2]float64 `json:"to"`
	Round bool       `json:"new_round"`
	After float64    `json:"seconds"` // since the current snapshot arrived
	Want  [2]float64 `json:"want"`
}

// PRES-02, PRES-04: the examples in docs/vectors/present.json.
func TestVectors(t *testing.T) {
	const file = "../../docs/vectors/present.json"
	list := []vector{
		{From: [2]float64{0, 0}, To: [2]float64{6, 12}, After: 0},
		{From: [2]float64{0, 0}, To: [2]float64{6, 12}, After: 1.0 / 120},
		{From: [2]float64{-10, 3}, To: [2]float64{-4, 0}, After: 1.0 / 144},
		{From: [2]float64{-10, 3}, To: [2]float64{-4, 0}, After: 1.0 / 60},
		{From: [2]float64{-10, 3}, To: [2]float64{-4, 0}, After: 0.5},
		{From: [2]float64{0, 0}, To: [2]float64{121, 0}, After: 1.0 / 120},
		{From: [2]float64{0, 0}, To: [2]float64{119, 0}, After: 1.0 / 120},
		{From: [2]float64{50, 0}, To: [2]float64{-130, 0}, Round: true, After: 1.0 / 120},
		{From: [2]float64{50, 0}, To: [2]float64{60, 0}, Round: true, After: 1.0 / 120},
	}
	for i := range list {
		v := &list[i]
		var p World
		a, b := state(0, sim.Fixed(v.From[0]*65536)), state(1, sim.Fixed(v.To[0]*65536))
		a.Fighters[0].Y, b.Fighters[0].Y = sim.Fixed(v.From[1]*65536), sim.Fixed(v.To[1]*65536)
		if v.Round {
			b.Round++
		}
		p.SubmitSimSnapshot(a)
		p.TickPresentation(0.2)
		p.SubmitSimSnapshot(b)
		got := p.TickPresentation(v.After).Fighters[0]
		v.Want = [2]float64{got.X, got.Y}
	}
	if *update {
		b, err := json.MarshalIndent(list, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stored []vector
	if err := json.Unmarshal(b, &stored); err != nil {
		t.Fatal(err)
	}
	if len(stored) != len(list) {
		t.Fatalf("%d examples, want %d", len(stored), len(list))
	}
	for i := range list {
		if math.Abs(stored[i].Want[0]-list[i].Want[0]) > 1e-6 || math.Abs(stored[i].Want[1]-list[i].Want[1]) > 1e-6 {
			t.Errorf("%d: %v, want %v", i, list[i].Want, stored[i].Want)
		}
	}
}

func TestSubmitDoesNotAllocate(t *testing.T) {
	var w sim.World
	if err := w.Reset(sim.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	var p World
	var s State
	trail := make([]Trail, 0, TrailFrames)
	if n := testing.AllocsPerRun(100, func() {
		w.Step([]sim.Input{{}, {}}, sim.Emit)
		s.Take(&w)
		p.SubmitSimSnapshot(&s)
		p.Mark(1, 0, false)
		p.TickPresentation(0.001)
		trail = p.AppendTrail(trail[:0])
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// FEEL-13, FEEL-14, FEEL-15, FEEL-16, FEEL-17, FEEL-18: the table.
func TestShakeTable(t *testing.T) {
	list := Shakes()
	if len(list) != 9 {
		t.Errorf("%d shakes", len(list))
	}
	named := map[string]Shake{}
	for _, s := range list {
		named[s.Name] = s
		if s.Reduced >= s.Base {
			t.Errorf("%s: reduced motion is not less", s.Name)
		}
	}
	for name, want := range map[string][2]float64{"Small": {0.20, 0.12}, "KO": {1.00, 0.35}, "Fatality": {1.20, 0.35}} {
		if s := named[name]; s.Base != want[0] || s.Reduced != want[1] {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if named["Fatality"].Base <= named["KO"].Base {
		t.Error("Fatality is not stronger than KO")
	}
}

// FEEL-22, FEEL-23, FEEL-24: what the parser refuses.
func TestShakeTableRefuses(t *testing.T) {
	good := shakesCSV
	without := func(name string) string {
		var out []string
		for _, l := range strings.Split(good, "\n") {
			if !strings.HasPrefix(l, name+",") {
				out = append(out, l)
			}
		}
		return strings.Join(out, "\n")
	}
	for name, c := range map[string][2]string{
		"path":          {"other/shakes.csv", good},
		"no Fatality":   {ShakePath, without("Fatality")},
		"no KO":         {ShakePath, without("KO")},
		"weak Fatality": {ShakePath, strings.Replace(good, "Fatality,1.20", "Fatality,1.00", 1)},
		"reduced":       {ShakePath, strings.Replace(good, "KO,1.00,0.35", "KO,1.00,1.00", 1)},
		"not a number":  {ShakePath, strings.Replace(good, "KO,1.00", "KO,NaN", 1)},
		"pattern":       {ShakePath, strings.Replace(good, "40,perlin", "40,wobble", 1)},
		"twice":         {ShakePath, good + "KO,1.00,0.35,40,perlin\n"},
		"columns":       {ShakePath, good + "X,1.00,0.35,40\n"},
		"header":        {ShakePath, strings.Replace(good, "name,base", "name,power", 1)},
		"endless":       {ShakePath, strings.Replace(good, "0.35,40,", "0.35,4000,", 1)},
	} {
		if _, err := ParseShakes(c[0], c[1]); !errors.Is(err, ErrCatalog) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FEEL-21: however many shakes there are, the sum is clamped.
func TestShakesAreClamped(t *testing.T) {
	var all []Running
	for range 6 {
		for _, s := range Shakes() {
			all = append(all, Running{Shake: s, Direction: 1})
		}
	}
	most := [2]float64{}
	for age := 0.0; age < 50; age += 0.25 {
		for i := range all {
			all[i].Age = age
		}
		for _, reduced := range []bool{false, true} {
			o, d := EvaluateShakes(all, reduced)
			if r := math.Hypot(o.X, o.Y); r > MaxOffset+1e-9 || math.Abs(d) > MaxDegrees {
				t.Fatalf("offset %v, %v degrees", o, d)
			}
			most[0], most[1] = max(most[0], math.Hypot(o.X, o.Y)), max(most[1], math.Abs(d))
		}
	}
	if most[0] < MaxOffset-1e-6 || most[1] < MaxDegrees-1e-6 {
		t.Errorf("the clamp was never reached: %v", most)
	}
	one := []Running{{Shake: Shakes()[0], Direction: 1, Age: 1}}
	full, _ := EvaluateShakes(one, false)
	calm, _ := EvaluateShakes(one, true)
	if math.Hypot(calm.X, calm.Y) >= math.Hypot(full.X, full.Y) {
		t.Error("reduced motion is not less")
	}
}

// Side 0 is free on frame 20 and acts at once, side 1 on frame 23.
func TestAdvantage(t *testing.T) {
	var a Advantage
	s := func(frame int32, codes ...Code) *State {
		st := state(frame, 0)
		st.Fighters[0].Code, st.Fighters[1].Code = codes[0], codes[1]
		return st
	}
	if _, ok := a.Of(0); ok {
		t.Fatal("known before anything")
	}
	a.Next(s(10, Active, Hitstun), true)
	for f := int32(11); f < 20; f++ {
		a.Next(s(f, Recovery, Hitstun), false)
	}
	a.Next(s(20, Free, Hitstun), false)
	a.Next(s(21, Free, Hitstun), false)
	a.Next(s(22, Startup, Hitstun), false) // acted already: still free first on 22
	for f := int32(23); f < 26; f++ {
		a.Next(s(f, Free, Free), false)
	}
	if n, ok := a.Of(0); !ok || n != 3 {
		t.Errorf("%d, %v, want 3", n, ok)
	}
	if n, _ := a.Of(1); n != -3 {
		t.Errorf("the other side has %d", n)
	}
}
