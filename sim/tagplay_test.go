package sim

import (
	"slices"
	"testing"
	"testing/fstest"

	"backstep/sim/data"
)

// TAGT-02, TAGT-20: three formats, seven mechanics found by name, three queues, everything ready.
func TestTagCatalog(t *testing.T) {
	c := TagCatalog()
	if !slices.Equal(c.Formats, []string{"2v2", "3v3", "trinity"}) || len(c.Mechanics) != 7 || len(c.Queues) != 3 || !c.MechanicsReady || !c.PairsReady {
		t.Fatalf("%+v", c)
	}
	for _, name := range []string{"TagCancel", "Snapback", "DelayedHyperCombo", "AssistCall", "CrossAssault", "XFactorPandora", "BaroqueDuoCancel"} {
		k, ok := data.MechanicByName(name)
		if !ok || k.String() != name || !slices.Contains(c.Mechanics, name) {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if _, ok := data.MechanicByName("Nothing"); ok {
		t.Error("a mechanic that is none")
	}
	if kit(t).Team.Mechanics[data.AssistCalled].Cooldown != 360 { // V-04, ABIL-17
		t.Error("the cooldown of an assist")
	}
}

// TAGT-21: the handshake goes its legal ways only.
func TestTagHandshakeTable(t *testing.T) {
	legal := 0
	for from := TagPhase(0); from < TagPhases; from++ {
		for to := TagPhase(0); to < TagPhases; to++ {
			team := Team{Phase: from, Timer: 3, To: 2}
			before := team
			ok := team.Transition(to)
			if ok {
				legal++
				before.Phase = to
			}
			if team != before || ok != CanTag(from, to) {
				t.Errorf("%s to %s: %v, %+v", from, to, ok, team)
			}
		}
	}
	if legal != 8 || CanTag(TagPhases, 0) || CanTag(TagInMontageStarted, TagRejected) || CanTag(TagIdle, TagCompleted) {
		t.Fatalf("%d legal steps", legal)
	}
}

// phasesOf lists the phases of a side's handshake as events report them.
func (g *ring) phasesOf(n int, a, b uint16) []TagPhase {
	var out []TagPhase
	for range n {
		g.step(a, b)
		for _, e := range g.w.Events() {
			if e.Kind == EventTag {
				out = append(out, TagPhase(e.Value))
			}
		}
	}
	return out
}

// TAGT-01, TAGT-13: a plain tag of 2v2: the handshake in order, the partner in the same place, the old point on the bench.
func TestPlainTag(t *testing.T) {
	g := newRing(t, data.TagTeam, Format2v2, 300)
	x := g.p(0).X
	g.p(0).SuperMeter, g.p(0).Meter = 700, 700
	g.step(AssistBit, 0)
	phases := []TagPhase{g.w.teams[0].Phase}
	phases = append(phases, g.phasesOf(60, 0, 0)...)
	if want := []TagPhase{TagOutMontageStarted, TagInMontageStarted, TagCompleted}; !slices.Equal(phases, want) {
		t.Fatalf("%v, want %v", phases, want)
	}
	if g.w.point[0] != 2 || g.w.active != 0b110 || g.p(0).X != x || g.w.fighters[0].Place != Bench || g.p(0).SuperMeter != 700 || !g.p(0).Action.Neutral() {
		t.Fatalf("point %d, on stage %b, x %d, %s", g.w.point[0], g.w.active, g.p(0).X.Whole(), g.p(0).Action)
	}
	if g.w.point[1] != 1 {
		t.Fatal("the other side changed too")
	}
	// An assist button does not start the move that is on it in 1v1, and 2v2 has no calls.
	g.step(AssistBit, 0)
	if g.p(0).Action == Attack {
		t.Fatal("the button does two things")
	}
	// Hit on its way out: rejected.
	h := newRing(t, data.TagTeam, Format2v2, 80)
	h.step(AssistBit, MediumBit)
	h.until(30, 0, 0, "the hit", h.landed)
	if h.run(2, 0, 0); h.w.teams[0].Phase != TagRejected || h.w.point[0] != 0 {
		t.Fatalf("%s, point %d", h.w.teams[0].Phase, h.w.point[0])
	}
	// To a partner that is out: nothing is asked.
	k := newRing(t, data.TagTeam, Format2v2, 300)
	k.w.fighters[2].Health = 0
	if k.step(AssistBit, 0); k.w.teams[0].Phase != TagIdle {
		t.Fatal(k.w.teams[0].Phase)
	}
}

// TAGT-03: a Tag Cancel in the launcher's frames brings the partner while the opponent still flies, and the combo goes on.
func TestTagCancel(t *testing.T) {
	g := newRing(t, data.TagTeam, Format2v2, 80)
	g.attack("2h", 0)
	g.until(30, 0, 0, "the launch", g.landed)
	g.step(AssistBit, 0)
	g.until(30, 0, 0, "the partner", func() bool { return g.w.point[0] == 2 })
	if g.p(1).Action != Launched || g.p(1).ComboHits != 1 || g.w.teams[0].Why != data.TagCancel {
		t.Fatalf("%s, combo %d", g.p(1).Action, g.p(1).ComboHits)
	}
	g.until(20, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() })
	if g.p(1).Action != Launched {
		t.Fatal("too late to go on")
	}
	g.p(1).X = g.p(0).X + Fixed(60<<16)
	g.p(1).Y = Fixed(60 << 16)
	g.step(LightBit, 0)
	g.until(20, 0, 0, "the hit", g.landed)
	if g.p(1).ComboHits != 2 {
		t.Fatalf("combo %d", g.p(1).ComboHits)
	}
	h := newRing(t, data.TagTeam, Format2v2, 80)
	h.attack("5m", 0) // no tag-cancel frames
	h.until(30, 0, 0, "the hit", h.landed)
	h.step(AssistBit, 0)
	if h.run(10, 0, 0); h.w.point[0] != 0 {
		t.Fatal("any move can be tag-cancelled")
	}
}

// TAGT-04: a Snapback sends the opponent's point out and the next one in; who is out must stay out and gains health.
func TestSnapback(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 80)
	g.p(0).SuperMeter, g.p(0).Meter = 1000, 1000
	g.p(1).Health = 500
	g.attack("s-snap", 0)
	g.until(30, 0, 0, "the hit", g.landed)
	out := &g.w.fighters[1]
	if g.w.point[1] != 3 || out.Place != Bench || out.Lock == 0 || g.p(1).Action != TagIn {
		t.Fatalf("point %d, lock %d, %s", g.w.point[1], out.Lock, g.p(1).Action)
	}
	health := out.Health
	g.run(60, 0, 0)
	g.step(0, DownBit|AssistBit) // partner 2 of Quill is Anvil, who is locked out
	g.run(30, 0, 0)
	if g.w.point[1] != 3 || g.w.teams[1].Phase != TagRejected {
		t.Fatalf("point %d, %s", g.w.point[1], g.w.teams[1].Phase)
	}
	g.run(300, 0, 0)
	if out.Health <= health || out.Lock != 0 {
		t.Fatalf("health %d of %d, lock %d", out.Health, health, out.Lock)
	}
}

// TAGT-05, TAGT-15: a super is cancelled into the partner's, for its price; a house that may not pair, a lack of meter, or a
// row of the table forbids it.
func TestDelayedHyperCombo(t *testing.T) {
	g := newRing(t, data.TagTeam, Format2v2, 80)
	g.p(0).SuperMeter = 2500
	m := g.attack("super", 0)
	g.until(60, 0, 0, "the super", func() bool { return g.p(0).AnimationFrame > m.Startup && g.p(0).HitstopFrames == 0 })
	g.step(SuperBit, 0)
	if g.w.point[0] != 2 || g.p(0).Action != Attack || g.p(0).SuperMeter != 500 || g.r.Fighter(2).Move(g.p(0).Move).Key != "super" {
		t.Fatalf("point %d, %s, meter %d", g.w.point[0], g.p(0).Action, g.p(0).SuperMeter)
	}
	g.until(60, 0, 0, "the end of the handshake", func() bool { return g.w.teams[0].Phase == TagCompleted })
	for name, change := range map[string]func(g *ring){
		"meter": func(g *ring) { g.p(0).SuperMeter = 900 }, "partner out": func(g *ring) { g.w.fighters[2].Health = 0 },
		"locked": func(g *ring) { g.w.fighters[2].Lock = 50 },
	} {
		h := newRing(t, data.TagTeam, Format2v2, 80)
		h.p(0).SuperMeter = 2500
		h.attack("super", 0)
		h.until(60, 0, 0, "the super", func() bool { return h.p(0).AnimationFrame > m.Startup && h.p(0).HitstopFrames == 0 })
		change(h)
		if h.step(SuperBit, 0); h.w.point[0] != 0 {
			t.Errorf("%s: it happened all the same", name)
		}
	}
}

// TAGT-06, TAGT-22, V-04: a call brings one move of a partner and cannot be repeated for 360 frames.
func TestAssistCall(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 300)
	g.step(AssistBit, 0)
	partner := &g.w.fighters[2]
	if partner.Place != Assisting || partner.Action != Attack || partner.Move != g.r.Fighter(2).Assist || g.w.teams[0].AssistCooldown == 0 {
		t.Fatalf("place %d, %s, cooldown %d", partner.Place, partner.Action, g.w.teams[0].AssistCooldown)
	}
	if g.p(0).Action == Attack {
		t.Fatal("the point does the move")
	}
	g.until(120, 0, 0, "it leaves", func() bool { return partner.Place == Bench })
	called := -1
	for f := g.w.teams[0].AssistCooldown; f > -5; f-- {
		word := AssistBit
		if f&1 != 0 {
			word = 0
		}
		g.step(word, 0)
		if partner.Place == Assisting {
			called = int(f)
			break
		}
	}
	if called > 1 || called < -3 {
		t.Fatalf("called again with %d frames left", called)
	}
	exact := newRing(t, data.TagTeam, Format3v3, 300)
	exact.step(AssistBit, 0)
	first := exact.w.frame
	exact.until(400, 0, 0, "the cooldown", func() bool { return exact.w.teams[0].AssistCooldown == 0 })
	if n := exact.w.frame - first; n != 359 {
		t.Fatalf("ready again after %d frames", n+1)
	}
	// The anchor of trinity comes once a match, also after the cooldown and in the next round.
	h := newRing(t, data.TagTeam, FormatTrinity, 300)
	h.step(LeftBit|AssistBit, 0)
	if h.w.fighters[4].Place != Assisting {
		t.Fatal("no anchor")
	}
	h.run(400, 0, 0)
	h.step(LeftBit|AssistBit, 0)
	if h.run(2, 0, 0); h.w.fighters[4].Place == Assisting || h.w.teams[0].AnchorUsed != 1 {
		t.Fatal("a second anchor")
	}
	h.w.startRound(h.r)
	if h.w.teams[0].AnchorUsed != 1 || h.w.teams[0].AssistCooldown != 0 {
		t.Fatalf("%+v", h.w.teams[0])
	}
}

// TAGT-07: Cross Assault puts two fighters under the same hands for its time.
func TestCrossAssault(t *testing.T) {
	g := newRing(t, data.TagTeam, Format2v2, 300)
	g.p(0).SuperMeter = 2000
	g.step(DownBit|AssistBit|StanceBit, 0)
	if g.w.fighters[2].Place != Crossing || g.p(0).SuperMeter != 0 || g.w.active != 0b111 {
		t.Fatalf("place %d, meter %d, on stage %b", g.w.fighters[2].Place, g.p(0).SuperMeter, g.w.active)
	}
	g.run(30, 0, 0)
	x := [2]Fixed{g.w.fighters[0].X, g.w.fighters[2].X}
	g.run(10, RightBit, 0)
	if g.w.fighters[0].X <= x[0] || g.w.fighters[2].X <= x[1] {
		t.Fatal("they do not both walk")
	}
	g.step(LightBit, 0)
	if g.w.fighters[0].Action != Attack || g.w.fighters[2].Action != Attack {
		t.Fatal("they do not both attack")
	}
	g.until(700, 0, 0, "its end", func() bool { return g.w.fighters[2].Place == Bench })
	if g.w.teams[0].Cross != 0 {
		t.Fatalf("%d frames left", g.w.teams[0].Cross)
	}
	// When the point falls meanwhile, the other one takes over where it stands.
	h := newRing(t, data.TagTeam, Format2v2, 300)
	h.p(0).SuperMeter = 2000
	h.step(DownBit|AssistBit|StanceBit, 0)
	h.run(30, 0, 0)
	s := newStepper(&h.w, h.r)
	h.p(0).Health = 0
	s.launch(0, 0, h.r.Ruleset(data.TagTeam).LaunchY)
	at := h.w.fighters[2].X
	h.until(300, 0, 0, "the change", func() bool { return h.w.point[0] == 2 })
	if h.p(0).X != at || h.p(0).Place != OnPoint || h.w.Phase() != Live {
		t.Fatalf("x %d, place %d, %s", h.p(0).X.Whole(), h.p(0).Place, h.w.Phase())
	}
}

// TAGT-08: X-Factor pays health for damage and speed, once a match.
func TestXFactor(t *testing.T) {
	g := newRing(t, data.TagTeam, Format2v2, 300)
	row := g.r.Team.Mechanics[data.XFactorPandora]
	g.step(AssistBit|StanceBit, 0)
	if g.p(0).Health != 1000-1000*row.Health/100 || g.w.teams[0].XFactor == 0 || g.w.teams[0].XFactorUsed != 1 {
		t.Fatalf("health %d, %+v", g.p(0).Health, g.w.teams[0])
	}
	x := g.p(0).X
	g.step(0, 0)
	g.run(10, RightBit, 0)
	if got, want := g.p(0).X-x, 10*(g.r.Fighter(1).WalkForward*Fixed(row.Speed)/100); got < want-10 || got > want+10 {
		t.Fatalf("walked %d, want %d", got, want)
	}
	g.apart(80)
	m := g.attack("5m", 0)
	g.until(20, 0, 0, "the hit", g.landed)
	pairs := g.r.Ruleset(data.TagTeam).Multiplier.Of(2)
	if got := g.w.Hits()[0].Damage; got != scale(m.Damage*row.Damage/100, pairs) || pairs <= data.Unit {
		t.Fatalf("damage %d", got)
	}
	g.until(int(row.Frames)+10, 0, 0, "its end", func() bool { return g.w.teams[0].XFactor == 0 })
	health := g.p(0).Health
	if g.step(AssistBit|StanceBit, 0); g.w.teams[0].XFactor != 0 || g.p(0).Health != health {
		t.Fatal("a second X-Factor in the match")
	}
}

// TAGT-09: Baroque pays recoverable health and a call to go on after a hit; without either it does not come.
func TestBaroque(t *testing.T) {
	for _, c := range []struct {
		recoverable int32
		cooldown    int16
		want        bool
	}{{60, 0, true}, {0, 0, false}, {60, 100, false}} {
		g := newRing(t, data.TagTeam, Format3v3, 80)
		g.p(0).Health, g.p(0).RecoverableHealth = 800, c.recoverable
		g.w.teams[0].AssistCooldown = c.cooldown
		g.attack("5h", 0)
		g.until(30, 0, 0, "the hit", g.landed)
		g.until(30, 0, 0, "the end of hitstop", func() bool { return g.p(0).HitstopFrames == 0 })
		g.step(LeftBit|AssistBit, 0)
		if got := g.p(0).Action != Attack; got != c.want {
			t.Errorf("%+v: free %v", c, got)
		}
		if c.want && (g.p(0).RecoverableHealth != 0 || g.p(0).Health != 800 || g.w.teams[0].AssistCooldown == 0 || g.w.teams[0].Baroque == 0) {
			t.Errorf("%+v, %+v", g.p(0).Vitals, g.w.teams[0])
		}
	}
}

// TAGT-11, V-15: off the stage 120 frames restore exactly 7 of 1000, up to the most, never to who is out, only in a running round.
func TestOffscreenRegeneration(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 400)
	g.w.fighters[2].Health, g.w.fighters[4].Health = 500, 0
	g.w.fighters[3].Health, g.w.fighters[3].RecoverableHealth = 996, 4
	g.run(120, 0, 0)
	if g.w.fighters[2].Health != 507 || g.w.fighters[4].Health != 0 || g.w.fighters[0].Health != 1000 {
		t.Fatalf("%d, %d", g.w.fighters[2].Health, g.w.fighters[4].Health)
	}
	if g.w.fighters[3].Health != 1000 || g.w.fighters[3].RecoverableHealth != 0 {
		t.Fatalf("%d + %d", g.w.fighters[3].Health, g.w.fighters[3].RecoverableHealth)
	}
	g.run(1200, 0, 0)
	if g.w.fighters[2].Health != 577 {
		t.Fatalf("%d", g.w.fighters[2].Health)
	}
}

// TAGT-10, TAGT-12: each fighter has its own health, shown for all; a round is lost only with the last of a team.
func TestTeamKO(t *testing.T) {
	g := newRing(t, data.TagTeam, Format3v3, 80)
	for k, want := range []uint8{3, 5} {
		g.until(300, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() && g.p(1).Action.Neutral() })
		g.p(1).Health = 1
		g.apart(80)
		g.attack("5l", 0)
		g.until(300, 0, 0, "the next one", func() bool { return g.w.point[1] == want })
		if g.w.Phase() != Live {
			t.Fatalf("the round ended with the knockout of number %d", k)
		}
		h := g.w.Present().Health
		for i := range int(g.w.count) {
			if h[i] != g.w.fighters[i].Health {
				t.Fatalf("shown %v", h)
			}
		}
	}
	g.until(300, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() && g.p(1).Action.Neutral() })
	g.p(1).Health = 1
	g.apart(80)
	g.attack("5l", 0)
	g.until(300, 0, 0, "the end", func() bool { return g.w.Phase() == RoundEnd })
	if g.w.match.RoundWinner != HostWins {
		t.Fatalf("%+v", g.w.match)
	}
}

// The clock of a round and the factor of all damage are those for sides of one, two or three.
func TestSizeOfSides(t *testing.T) {
	for format, size := range map[Format]int{Format1v1: 1, Format2v2: 2, Format3v3: 3, FormatTrinity: 3} {
		g := newRing(t, data.SF, format, 80)
		rules := g.r.Ruleset(data.SF)
		if want := [...]int32{99, 150, 180}[size-1] * SimulationHz; rules.RoundFrames.Of(size) != want {
			t.Fatalf("the table gives %d frames", rules.RoundFrames.Of(size))
		}
		g.w.startRound(g.r)
		if got := g.w.match.Timer; got != rules.RoundFrames.Of(size) {
			t.Errorf("%s: a round of %d frames", format, got)
		}
		g.apart(80)
		m := g.attack("5m", 0)
		g.until(30, 0, 0, "the hit", g.landed)
		if got, want := g.w.Hits()[0].Damage, m.Damage*[...]int32{100, 125, 150}[size-1]/100; got != want {
			t.Errorf("%s: damage %d, want %d", format, got, want)
		}
	}
}

// TAGT-15: the pairing table is asked when a change of fighters is about to happen.
func TestPairsForbid(t *testing.T) {
	r, err := loadKit(func(files fstest.MapFS) {
		files[data.PairsPath] = &fstest.MapFile{Data: []byte("pair,tag_cancel,dhc,cross_ip,cinematic\nanvil>quill,no,no,yes,yes\nany>any,yes,yes,no,yes\n")}
	})
	if err != nil {
		t.Fatal(err)
	}
	start := func(apart int) *ring {
		g := &ring{t: t, r: r}
		g.reset(data.TagTeam, Format3v3, 1)
		g.live(apart)
		return g
	}
	g := start(80)
	g.attack("2h", 0)
	g.until(30, 0, 0, "the launch", g.landed)
	g.step(RightBit|AssistBit, 0)
	if g.run(20, 0, 0); g.w.teams[0].Phase != TagRejected || g.w.point[0] != 0 {
		t.Errorf("a Tag Cancel the table forbids: %s", g.w.teams[0].Phase)
	}
	g = start(300)
	g.p(0).SuperMeter = 3000
	m := g.attack("super", 0)
	g.until(60, 0, 0, "the super", func() bool { return g.p(0).AnimationFrame > m.Startup && g.p(0).HitstopFrames == 0 })
	if g.step(SuperBit, 0); g.w.point[0] != 0 {
		t.Error("a super the table forbids")
	}
	g = start(300)
	g.step(RightBit|AssistBit, 0)
	if g.run(60, 0, 0); g.w.point[0] != 2 {
		t.Errorf("a plain tag within what the row allows: point %d", g.w.point[0])
	}
	g = start(300) // Anvil of North and Rivet of South have no row of their own
	g.step(DownBit|AssistBit, 0)
	if g.run(60, 0, 0); g.w.teams[0].Phase != TagRejected {
		t.Errorf("houses that may not pair: %s", g.w.teams[0].Phase)
	}
}
