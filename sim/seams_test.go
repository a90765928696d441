package sim

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"backstep/sim/data"
)

// SIM-09, SIM-10, SIM-28, RNG-08, DET-01, DET-02, DET-04, DET-06, DET-08, DET-09: the simulation imports nothing that knows time, chance, a
// network or a float, and says that it is deterministic. That nothing else of the kind is in its code, scripts/rules checks.
func TestImports(t *testing.T) {
	if Determinism != 1 || StrictFP != 1 {
		t.Error("DET-01")
	}
	may := map[string]bool{"backstep/sim/data": true, "backstep/sim/fixed": true, "encoding/binary": true, "errors": true, "fmt": true,
		"hash/crc32": true, "strings": true, "github.com/cespare/xxhash/v2": true}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, i := range tree.Imports {
			if p, _ := strconv.Unquote(i.Path.Value); !may[p] {
				t.Errorf("%s imports %s", f.Name(), p)
			}
		}
	}
	if read < 30 {
		t.Fatalf("only %d files", read)
	}
}

// SIM-16, SIM-22, ABIL-06: input goes first: a press of a frame begins its move in that frame, from the buffer, and the frame
// number is one more and one event is made when the step is over.
func TestStepOrder(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	before := g.w.frame
	g.step(MediumBit, 0)
	if f := g.p(0); f.Action != Attack || f.AnimationFrame != 1 || f.MoveStart != g.w.frame || *f.entry(0)&entryButtons != 0 {
		t.Fatalf("%s, frame %d, began %d", f.Action, f.AnimationFrame, f.MoveStart)
	}
	if g.w.frame != before+1 || g.w.Present().Frame != g.w.frame {
		t.Fatalf("frame %d after %d, event of %d", g.w.frame, before, g.w.Present().Frame)
	}
	// A press in hitstop is queued, not read again later from the hardware: releasing the button does not lose it.
	h := newRing(t, data.SF, Format1v1, 300)
	h.p(0).HitstopFrames = 4
	h.step(HeavyBit, 0)
	h.run(3, 0, 0)
	if h.step(0, 0); h.p(0).Action != Attack {
		t.Fatal("the queued press is lost")
	}
}

// SIM-23, HITB-07, HITB-11: two machines that run the same inputs agree on every hit without asking anybody, also when one of them
// goes back to a snapshot of all its state in the middle of a move.
func TestHitAuthorityIsShared(t *testing.T) {
	a := newRing(t, data.SF, Format1v1, 80)
	b := newRing(t, data.SF, Format1v1, 80)
	hits := 0
	for f, in := range busyTape(12, 3000) {
		enrich(&a.w, f)
		enrich(&b.w, f)
		saved := b.w
		b.w.step(b.r, in[:], SuppressCosmetics)
		b.w = saved
		a.w.step(a.r, in[:], Emit)
		b.w.step(b.r, in[:], Emit)
		if a.w.out.hits != b.w.out.hits || !a.w.Equal(&b.w) {
			t.Fatalf("frame %d: %+v and %+v", f, a.w.Hits(), b.w.Hits())
		}
		hits += len(a.w.Hits())
	}
	if hits < 5 {
		t.Fatalf("%d hits", hits)
	}
}

// HITB-06, FEEL-05, FEEL-11: hitstop comes from the payload and nothing else: feel of a made-up payload freezes exactly what it says,
// whatever the fighters are in, and every hit of a match is in the payloads of its frame.
func TestPayloadIsTheOnlyHandOff(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 300)
	s := newStepper(&g.w, g.r)
	s.feel(HitConfirmed{Attacker: 1, Defender: 0, AttackerHitstop: 5, DefenderHitstop: 7, DefenderHitlag: 3})
	if g.p(1).HitstopFrames != 5 || g.p(0).HitstopFrames != 7 || g.p(0).HitlagFrames != 3 || len(g.w.Hits()) == 0 {
		t.Fatalf("%d, %d + %d", g.p(1).HitstopFrames, g.p(0).HitstopFrames, g.p(0).HitlagFrames)
	}
	for rules := range Ruleset(data.RulesCount) {
		everyHitIsHandedOn(t, rules)
	}
}

func everyHitIsHandedOn(t *testing.T, rules Ruleset) {
	t.Helper()
	h := newRing(t, rules, Format1v1, 80)
	for f, in := range busyTape(4, 4000) {
		enrich(&h.w, f)
		h.w.step(h.r, in[:], Emit)
		for _, e := range h.w.Events() {
			if e.Kind != EventHit && e.Kind != EventCounterHit && e.Kind != EventArmor && e.Kind != EventEnvironment {
				continue
			}
			found := false
			for _, x := range h.w.Hits() {
				found = found || (x.Defender == e.Fighter && x.Damage == e.Value)
			}
			if !found {
				t.Fatalf("frame %d: %+v is in no payload", f, e)
			}
		}
	}
}

// FDAT-15: the starter profile of the first hit of a combo counts for all later ones.
func TestStarterProration(t *testing.T) {
	r := kit(t).Ruleset(data.SF)
	for starter := range uint8(data.Starters) {
		g := newRing(t, data.SF, Format1v1, 80)
		s := newStepper(&g.w, g.r)
		g.p(1).ComboHits, g.p(1).ComboStarter = 1, starter
		c := contact{attacker: 0, defender: 1, move: g.move("5h"), base: 100}
		if got, want := s.damage(&c), scale(scale(100, r.Starter[starter]), r.Combo[1]); got != want {
			t.Errorf("starter %d: %d, want %d", starter, got, want)
		}
	}
	g := newRing(t, data.SF, Format1v1, 80)
	g.attack("5l", 0)
	g.until(20, 0, 0, "the hit", g.landed)
	if g.p(1).ComboStarter != data.StarterLight {
		t.Fatalf("starter %d", g.p(1).ComboStarter)
	}
}

// FDAT-21, FDAT-22, ABIL-18: ids for a presentation come with the frame of a move and of a hit; a super has its cost, its
// invincible frames and its cinematic.
func TestPresentIDs(t *testing.T) {
	g := newRing(t, data.MK, Format1v1, 80)
	m := g.attack("k-krush", 0)
	if g.w.Present().Montage != m.Montage || m.Montage == 0 || m.HitConfirm != (data.Span{Start: 9, End: 14}) {
		t.Fatalf("montage %d, confirm %v", g.w.Present().Montage, m.HitConfirm)
	}
	g.until(20, 0, 0, "the hit", g.landed)
	if g.w.Present().Rumble != m.Rumble || m.Rumble == 0 {
		t.Fatalf("rumble %d", g.w.Present().Rumble)
	}
	if g.step(0, 0); g.w.Present().Rumble != 0 || g.w.Present().Montage != 0 {
		t.Fatal("ids without cause")
	}
	art := g.move("x-ca3")
	if art.Cost != 3000 || art.Invincible != (data.Span{Start: 1, End: 12}) || art.Refuses != data.AgainstAll || art.Cinematic == 0 {
		t.Fatalf("%+v", art)
	}
}

// FDAT-24, SNAP-03, RNG-04: the Tekken family of states goes back as a whole, and the generators with it.
func TestMechanicsGoBack(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 300)
	want := Mechanics{AirJuggle: 11, Heat: 22, SoulCharge: 3, CriticalEdge: 4, ReversalEdge: 5, KiCharge: 33, PowerCrush: 6, StanceEntry: 7, StanceRecovery: 0,
		StanceDuration: 44, StanceKind: 1}
	g.p(0).Mechanics = want
	saved, cursor, match := g.w.AppendState(nil), g.p(0).RNGCursor, g.w.random
	g.run(40, 0, 0)
	if g.p(0).Mechanics == want || g.p(0).RNGCursor == cursor {
		t.Fatal("nothing moved")
	}
	if err := g.w.parse(g.r, saved); err != nil {
		t.Fatal(err)
	}
	if g.p(0).Mechanics != want || g.p(0).RNGCursor != cursor || g.w.random != match {
		t.Fatalf("%+v", g.p(0).Mechanics)
	}
}

// TAGT-14: the tag buttons are bits of the input word, so that inputs alone replay every change of fighters.
func TestInputsReplayTags(t *testing.T) {
	g := &ring{t: t, r: kit(t)}
	in := busyTape(31, 5000)
	var hashes [2]uint64
	tags := 0
	for pass := range hashes {
		g.reset(data.TagTeam, Format3v3, 6)
		for f := range in {
			enrich(&g.w, f)
			g.w.step(g.r, in[f][:], Policy(pass))
			if _, ok := g.has(EventTag); ok && pass == 0 {
				tags++
			}
		}
		hashes[pass] = g.w.Hash()
	}
	if hashes[0] != hashes[1] || tags < 3 {
		t.Fatalf("%x, %d changes", hashes, tags)
	}
}
