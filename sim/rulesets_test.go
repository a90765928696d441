package sim

import (
	"testing"

	"backstep/sim/data"
)

// Drive falls with blocked hits and with what it pays for, burns out at the end, and comes back when it is full.
func TestDriveAndBurnout(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 80)
	r := g.r.Ruleset(data.SF)
	g.attack("5m", 0)
	g.until(20, 0, RightBit, "the block", func() bool { return len(g.w.Hits()) > 0 })
	if got := r.Drive.Max - g.p(1).Drive; got != r.DriveBlock {
		t.Fatalf("a blocked hit took %d drive", got)
	}
	stun := g.p(1).Duration
	h := newRing(t, data.SF, Format1v1, 80)
	h.p(1).Drive = 10
	h.attack("5m", 0)
	h.until(20, 0, RightBit, "the block", func() bool { return len(h.w.Hits()) > 0 })
	if h.p(1).Burnout != 1 || h.p(1).Duration != stun+r.BurnoutStun {
		t.Fatalf("burnout %d, blockstun %d after %d", h.p(1).Burnout, h.p(1).Duration, stun)
	}
	if _, ok := h.has(EventBurnout); !ok {
		t.Error("no event")
	}
	h.p(1).Drive = r.Drive.Max - 1
	h.until(200, 0, 0, "the end of burnout", func() bool { return h.p(1).Burnout == 0 })
	i := newRing(t, data.SF, Format1v1, 200)
	i.attack("x-impact", 0)
	if i.p(0).Drive != r.Drive.Max-1000 || i.p(0).Armor != 2 {
		t.Fatalf("Drive Impact: drive %d, armor %d", i.p(0).Drive, i.p(0).Armor)
	}
}

// Full stun dazes.
func TestStun(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 80)
	for range 3 {
		g.apart(80)
		g.attack("e-stun", 0)
		g.until(60, 0, 0, "the hit", g.landed)
		if g.p(1).Stun == g.p(1).MaxStun {
			break
		}
		g.until(90, 0, 0, "both free", func() bool { return g.p(0).Action.Neutral() && g.p(1).Action.Neutral() })
		g.p(1).Stun = 700
	}
	g.until(90, 0, 0, "the daze", func() bool { return g.p(1).Action == Dazed })
	if g.p(1).Stun > 0 || g.p(1).Duration != g.r.Ruleset(data.SF).DizzyFrames {
		t.Fatalf("stun %d, %d frames", g.p(1).Stun, g.p(1).Duration)
	}
	x := g.p(1).X
	g.run(20, 0, LeftBit|LightBit)
	if g.p(1).X != x || g.p(1).Action != Dazed {
		t.Fatal("a dazed fighter acts")
	}
	g.until(120, 0, 0, "the end", func() bool { return g.p(1).Action.Neutral() })
}

// FDAT-07: Heat begins by burst or engager, multiplies damage, runs out, and a Heat Smash ends it.
func TestHeat(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 400)
	r := g.r.Ruleset(data.Tekken)
	g.p(0).Heat = g.p(0).MaxHeat
	g.attack("u-heat", 0)
	g.until(20, 0, 0, "Heat", func() bool { return g.p(0).Mechanics.Heat > 0 })
	if g.p(0).Heat != 0 || int32(g.p(0).Mechanics.Heat) != r.HeatFrames {
		t.Fatalf("gauge %d, timer %d", g.p(0).Heat, g.p(0).Mechanics.Heat)
	}
	g.until(60, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() })
	g.apart(80)
	m := g.attack("5m", 0)
	g.until(20, 0, 0, "the hit", g.landed)
	if got := 1000 - g.p(1).Health; got != m.Damage*11/10 {
		t.Fatalf("damage in Heat %d, base %d", got, m.Damage)
	}
	g.until(90, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() })
	g.p(0).SuperMeter = 100
	g.attack("x-smash", 0)
	if g.p(0).Mechanics.Heat != 0 {
		t.Fatal("a Heat Smash leaves Heat")
	}
	h := newRing(t, data.Tekken, Format1v1, 80)
	h.attack("e-engage", 0)
	h.until(30, 0, 0, "the hit", h.landed)
	if h.p(0).Mechanics.Heat != 0 || h.p(0).Heat < 20 {
		t.Fatalf("an engager with gauge %d: Heat %d", h.p(0).Heat, h.p(0).Mechanics.Heat)
	}
	h.until(90, 0, 0, "free", func() bool { return h.p(0).Action.Neutral() && h.p(1).Action.Neutral() })
	h.p(0).Heat = h.p(0).MaxHeat
	h.apart(80)
	h.attack("e-engage", 0)
	h.until(30, 0, 0, "the hit", h.landed)
	if h.p(0).Mechanics.Heat == 0 || h.p(0).Heat != 0 {
		t.Fatalf("an engager with a full gauge: Heat %d", h.p(0).Mechanics.Heat)
	}
}

// FDAT-08, FDAT-09, V-24: the Rage Art does 85, freezes 45 frames, needs Rage and uses it up; the lockout comes first.
func TestRageArt(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 80)
	f := g.p(0)
	f.Health = 250
	g.step(0, 0)
	if f.Mechanics.Rage != 1 || g.w.match.Nodes[data.TekkenRageActivationLockout] == 0 {
		t.Fatalf("rage %d, lockout %d", f.Mechanics.Rage, g.w.match.Nodes[data.TekkenRageActivationLockout])
	}
	g.step(SuperBit, 0)
	if f.Action == Attack && f.Move == g.move("x-rage").ID {
		t.Fatal("the Rage Art began within the lockout")
	}
	g.until(80, 0, 0, "the end of the lockout", func() bool {
		return g.w.match.Nodes[data.TekkenRageActivationLockout] == 0 && f.Action.Neutral()
	})
	g.attack("x-rage", 0)
	if f.HitstopFrames != 44 || f.Mechanics.Rage != 0 || f.RageSpent != 1 {
		t.Fatalf("freeze %d, rage %d, spent %d", f.HitstopFrames+1, f.Mechanics.Rage, f.RageSpent)
	}
	frozen := 0
	for f.HitstopFrames > 0 {
		g.step(0, 0)
		frozen++
	}
	if frozen != 44 {
		t.Fatalf("frozen for %d frames", frozen+1)
	}
	g.until(20, 0, 0, "the hit", g.landed)
	if h := g.w.Hits()[0]; h.Damage != 85 || g.p(1).Health != 915 {
		t.Fatalf("damage %d", h.Damage)
	}
	g.until(200, 0, 0, "free", func() bool { return f.Action.Neutral() })
	if f.Mechanics.Rage != 0 || g.w.canActivate(g.r, 0, g.move("x-rage").ID) == nil {
		t.Fatal("Rage comes twice in a round")
	}
}

// FDAT-11: hits in Ki Charge are counter-hits; the first one ends it; meanwhile there is no guard.
func TestKiCharge(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 300)
	g.attack("4s", 0)
	g.until(60, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() })
	if g.p(0).Mechanics.KiCharge == 0 {
		t.Fatal("no Ki Charge")
	}
	g.apart(80)
	m := g.attack("5m", 0)
	g.until(20, 0, 0, "the hit", g.landed)
	if h := g.w.Hits()[0]; !h.CounterHit || h.Damage != m.Damage*5/4 || g.p(0).Mechanics.KiCharge != 0 {
		t.Fatalf("%+v, %d", h, g.p(0).Mechanics.KiCharge)
	}
	h := newRing(t, data.Tekken, Format1v1, 80)
	h.p(1).Mechanics.KiCharge = 300
	h.attack("5m", RightBit)
	h.until(20, 0, RightBit, "the hit", func() bool { return len(h.w.Hits()) > 0 })
	if h.w.Hits()[0].Blocked {
		t.Fatal("a charged fighter guards")
	}
}

// FDAT-12, TAG-06: a stance has entry, duration and recovery, moves and a tag of its own, and ends when hit.
func TestStances(t *testing.T) {
	g := newRing(t, data.Tekken, Format1v1, 300)
	f := g.p(0)
	st := g.r.Fighter(1).Stances[0]
	enter := func() {
		g.attack("u-crane", 0)
		g.until(40, 0, 0, "the stance", func() bool { return f.Mechanics.StanceKind == 1 })
	}
	enter()
	if int32(f.Mechanics.StanceEntry) != st.Entry-1 || int32(f.Mechanics.StanceDuration) != st.Entry+st.Duration-1 || f.StanceTag != NameHash("State.Stance.Tekken.Lei.Crane") {
		t.Fatalf("%+v, tag %#x", f.Mechanics, f.StanceTag)
	}
	g.step(RightBit, 0)
	if f.Action != Idle {
		t.Fatalf("acts while entering: %s", f.Action)
	}
	g.until(20, 0, 0, "the entry", func() bool { return f.Mechanics.StanceEntry == 0 })
	g.step(LightBit, 0)
	if f.Move != g.move("c-kick").ID || f.Mechanics.StanceKind != 0 {
		t.Fatalf("move %d, stance %d", f.Move, f.Mechanics.StanceKind)
	}
	g.until(60, 0, 0, "free", func() bool { return f.Action.Neutral() })
	enter()
	g.until(20, 0, 0, "the entry", func() bool { return f.Mechanics.StanceEntry == 0 })
	g.step(HeavyBit, 0)
	if f.Move != g.move("c-fly").ID || f.Mechanics.StanceKind != 1 {
		t.Fatalf("move %d, stance %d", f.Move, f.Mechanics.StanceKind)
	}
	g.until(60, 0, 0, "the stance again", func() bool { return f.Action == Idle })
	if f.Mechanics.StanceKind != 1 {
		t.Fatal("the move does not come back to the stance")
	}
	g.until(20, 0, 0, "the entry", func() bool { return f.Mechanics.StanceEntry == 0 })
	g.step(DownBit, 0)
	if f.Mechanics.StanceKind != 0 || int32(f.Mechanics.StanceRecovery) != st.Recovery-1 {
		t.Fatalf("leaving: %+v", f.Mechanics)
	}
	g.step(LightBit, 0)
	if f.Action == Attack {
		t.Fatal("acts in recovery")
	}
	g.until(20, 0, 0, "the buffered move", func() bool { return f.Mechanics.StanceRecovery == 0 })
	g.run(20, 0, 0)
	enter()
	n := g.until(200, 0, 0, "the end of its time", func() bool { return f.Mechanics.StanceKind == 0 })
	if n < int(st.Duration) {
		t.Fatalf("ended after %d frames", n)
	}
	g.run(30, 0, 0)
	enter()
	g.apart(80)
	g.until(40, LeftBit, MediumBit, "the hit", g.landed)
	if f.Mechanics.StanceKind != 0 || f.Action != Hitstun {
		t.Fatalf("hit in a stance: %s, stance %d", f.Action, f.Mechanics.StanceKind)
	}
}

// FDAT-04, FDAT-05, FDAT-06: the Tekken launch, the twelve hits of a juggle, and the 0.92 of its starter.
func TestTekkenJuggle(t *testing.T) {
	r := kit(t).Ruleset(data.Tekken)
	if r.LaunchX != Fixed(160<<16)/60 || r.LaunchY != Fixed(520<<16)/60 || r.JuggleLimit != 12 || r.JuggleStarter != 9200 {
		t.Fatalf("%d, %d, %d, %d", r.LaunchX, r.LaunchY, r.JuggleLimit, r.JuggleStarter)
	}
	g := newRing(t, data.Tekken, Format1v1, 80)
	g.attack("2h", 0)
	g.until(20, 0, 0, "the launch", func() bool { return g.p(1).Action == Launched })
	if g.p(1).VX != r.LaunchX || g.p(1).VY != r.LaunchY || g.p(1).Launcher != 1 {
		t.Fatalf("launched with %d, %d", g.p(1).VX, g.p(1).VY)
	}
	s := newStepper(&g.w, g.r)
	c := contact{attacker: 0, defender: 1, move: g.move("5m"), base: 100}
	if got, want := s.damage(&c), scale(scale(100, r.Combo[1]), scale(r.Juggle[0], 9200)); got != want {
		t.Fatalf("first hit of the juggle %d, want %d", got, want)
	}
	if g.p(1).Combat.JuggleScaling != 9200 {
		t.Fatalf("scaling %d", g.p(1).Combat.JuggleScaling)
	}
	for hits := uint8(0); hits < 14; hits++ {
		g.p(1).JuggleHits = hits
		if refused := s.refuses(1)&data.AgainstStrike != 0; refused != (hits >= 12) {
			t.Errorf("hit %d of a juggle: refused %v", hits+1, refused)
		}
	}
}

// ABIL-19 and the rules of MK: Fatal Blow once a round, a breakaway paid with stamina, a Krushing Blow once, with its payload.
func TestMortalRules(t *testing.T) {
	g := newRing(t, data.MK, Format1v1, 200)
	f := g.p(0)
	f.Health = 299
	g.attack("x-fatal", 0)
	g.until(200, 0, 0, "free", func() bool { return f.Action.Neutral() })
	if g.step(SuperBit|DownBit, 0); f.Action == Attack && f.Move == g.move("x-fatal").ID {
		t.Fatal("a second Fatal Blow in the round")
	}
	h := newRing(t, data.MK, Format1v1, 80)
	full := h.p(0).MKStamina
	if h.attack("e-escape", 0); h.p(0).MKStamina != full-100 {
		t.Fatalf("stamina %d", h.p(0).MKStamina)
	}
	k := newRing(t, data.MK, Format1v1, 80)
	m := k.attack("k-krush", HeavyBit)
	k.until(20, 0, 0, "the hit", k.landed)
	hit := k.w.Hits()[0]
	if !hit.CounterHit || !hit.KrushingBlow || hit.KrushingBlowFreeze != 30 || hit.KrushingBlowSequence != 7 || hit.Damage != m.Damage*5/4*13/10 {
		t.Fatalf("HITB-05: %+v", hit)
	}
	if k.p(0).HitstopFrames < 29 || k.w.Present().Rumble != m.Rumble {
		t.Fatalf("freeze %d, rumble %d", k.p(0).HitstopFrames, k.w.Present().Rumble)
	}
	k.until(200, 0, 0, "both free", func() bool { return k.p(0).Action.Neutral() && k.p(1).Action.Neutral() })
	k.apart(80)
	k.attack("k-krush", HeavyBit)
	k.until(20, 0, 0, "the hit", k.landed)
	if k.w.Hits()[0].KrushingBlow {
		t.Fatal("a second Krushing Blow in the round")
	}
}

// Soul charge multiplies, a critical edge cannot be touched while it begins, and a guard breaks.
func TestSoulCharge(t *testing.T) {
	g := newRing(t, data.SoulCalibur, Format1v1, 300)
	r := g.r.Ruleset(data.SoulCalibur)
	g.p(0).SuperMeter = 2000
	g.attack("u-soul", 0)
	g.until(60, 0, 0, "free", func() bool { return g.p(0).Action.Neutral() })
	if g.p(0).Mechanics.SoulCharge == 0 || g.p(0).SuperMeter != 1500 {
		t.Fatalf("charge %d, meter %d", g.p(0).Mechanics.SoulCharge, g.p(0).SuperMeter)
	}
	g.apart(80)
	m := g.attack("5m", 0)
	g.until(20, 0, 0, "the hit", g.landed)
	if got := g.w.Hits()[0].Damage; got != scale(m.Damage, r.SoulChargeDamage) {
		t.Fatalf("damage %d", got)
	}
	h := newRing(t, data.SoulCalibur, Format1v1, 80)
	h.p(0).SuperMeter = 1000
	h.step(0, LightBit)
	h.attack("x-edge", 0)
	h.until(60, 0, 0, "the answer", h.landed)
	if h.w.Hits()[0].Attacker != 0 || h.p(0).Health != 1000 {
		t.Fatalf("%+v", h.w.Hits()[0])
	}
	k := newRing(t, data.SoulCalibur, Format1v1, 80)
	k.p(1).Block = 50
	k.attack("5s", 0)
	k.until(30, 0, RightBit, "the block", func() bool { return len(k.w.Hits()) > 0 })
	if k.p(1).Action != Dazed || k.p(1).Block != r.Block.Start || k.p(1).Duration != r.GuardCrush {
		t.Fatalf("%s, guard %d", k.p(1).Action, k.p(1).Block)
	}
}

// A reversal edge asks both; light beats heavy, heavy beats medium, medium beats light, anything beats nothing.
func TestReversalEdge(t *testing.T) {
	names := []uint16{0, LightBit, MediumBit, HeavyBit}
	wins := map[[2]int]bool{{1, 3}: true, {3, 2}: true, {2, 1}: true, {1, 0}: true, {2, 0}: true, {3, 0}: true}
	for a := range names {
		for b := range names {
			g := newRing(t, data.SoulCalibur, Format1v1, 80)
			g.attack("e-edge", 0)
			g.until(30, 0, 0, "the prompt", func() bool { return g.p(0).Action == Prompted })
			if g.p(1).Action != Prompted || g.p(0).Mechanics.ReversalEdge == 0 {
				t.Fatal("only one is asked")
			}
			health := [2]int32{g.p(0).Health, g.p(1).Health}
			g.run(5, 0, 0)
			g.step(names[a], names[b])
			g.until(60, 0, 0, "the end", func() bool { return g.p(0).Action != Prompted && g.p(1).Action != Prompted })
			lost := [2]bool{g.p(0).Health < health[0], g.p(1).Health < health[1]}
			if want := [2]bool{wins[[2]int{b, a}], wins[[2]int{a, b}]}; lost != want {
				t.Errorf("%d against %d: lost %v, want %v", a, b, lost, want)
			}
			if a == b && g.p(0).Action != Teched {
				t.Errorf("a tie ends in %s", g.p(0).Action)
			}
		}
	}
}

// Clinch, takedown, limbs and stamina of UFC; a tired fighter hits weaker; points decide at time over.
func TestGrapplesAndStamina(t *testing.T) {
	g := newRing(t, data.UFC, Format1v1, 70)
	m := g.attack("clinch", 0)
	g.until(60, 0, 0, "the release", g.landed)
	if g.p(1).Action != Hitstun || g.p(1).Stamina > 1000-m.Gains.Drain || g.p(1).MMA.LimbStaminaTorso != int16(100-m.Gains.Drain) {
		t.Fatalf("%s, stamina %d, torso %d", g.p(1).Action, g.p(1).Stamina, g.p(1).MMA.LimbStaminaTorso)
	}
	var free [2]int
	for n := 1; n < 90 && (free[0] == 0 || free[1] == 0); n++ {
		g.step(0, 0)
		for i := range free {
			if free[i] == 0 && g.p(i).Action.Neutral() {
				free[i] = n
			}
		}
	}
	if int32(free[1]-free[0]) != m.OnHit {
		t.Fatalf("advantage %d, file says %d", free[1]-free[0], m.OnHit)
	}
	h := newRing(t, data.UFC, Format1v1, 70)
	td := h.attack("takedown", 0)
	h.until(60, 0, 0, "the throw", h.landed)
	if h.p(0).MMA.TransitionSkill != 5500 || h.p(0).MMA.TopPosition == 0 || h.p(1).Wrestling.LimbDamageTorso != int16(td.Gains.Limb) {
		t.Fatalf("%+v, %+v", h.p(0).MMA, h.p(1).Wrestling)
	}
	h.until(90, 0, 0, "lying", func() bool { return h.p(1).Action == Down })
	if h.p(1).Duration != h.r.Ruleset(data.UFC).DownFrames+td.Effects.Down {
		t.Fatalf("lies %d frames", h.p(1).Duration)
	}
	k := newRing(t, data.UFC, Format1v1, 80)
	k.p(0).Stamina = 100
	j := k.attack("5m", 0)
	k.until(20, 0, 0, "the hit", k.landed)
	if got := k.w.Hits()[0].Damage; got != scale(j.Damage, 7000) {
		t.Fatalf("a tired hit does %d of %d", got, j.Damage)
	}
	k.p(0).Health, k.p(1).Health = 10, 1000
	k.w.match.Timer = 2
	k.until(20, 0, 0, "time over", func() bool { return k.w.Phase() == RoundEnd })
	if k.w.match.RoundWinner != HostWins {
		t.Fatalf("points %v, winner %d", k.w.match.Score, k.w.match.RoundWinner)
	}
}

// What has suffered shows: sore legs slow and jump low, a sore head is stunned sooner, a fighter low on health holds out longer
// where the rules say so, and the top position spares presses.
func TestAttributesCount(t *testing.T) {
	g := newRing(t, data.UFC, Format1v1, 300)
	f, k := g.p(0), g.r.Fighter(1)
	f.MMA.LimbStaminaLegs = 10
	x := f.X
	if g.step(RightBit, 0); f.X-x != Fixed(int64(k.WalkForward)*slowWalk/data.Unit) {
		t.Errorf("walked %d with tired legs", f.X-x)
	}
	g.step(UpBit, 0)
	g.until(20, 0, 0, "the jump", func() bool { return f.Action == Airborne })
	if want := Fixed(int64(k.JumpY)*lowJump/data.Unit) - k.Gravity; f.VY != want {
		t.Errorf("jumps with %d, want %d", f.VY, want)
	}
	for _, sore := range []int16{0, 200} {
		g := newRing(t, data.UFC, Format1v1, 80)
		g.p(1).Wrestling.LimbDamageHead = sore
		m := g.attack("e-stun", 0)
		g.until(30, 0, 0, "the hit", g.landed)
		want := m.Gains.Stun
		if sore > 0 {
			want += want / 2
		}
		if got := g.p(1).Stun; got != want {
			t.Errorf("head damage %d: stun %d, want %d", sore, got, want)
		}
	}
	for _, health := range []int32{251, 250} {
		g := newRing(t, data.TagTeam, Format1v1, 80)
		g.p(1).Health = health
		m := g.attack("5m", 0)
		g.until(30, 0, 0, "the hit", g.landed)
		want := m.Damage
		if health == 250 {
			want = want * 9 / 10
		}
		if got := g.w.Hits()[0].Damage; got != want {
			t.Errorf("health %d: damage %d, want %d", health, got, want)
		}
	}
	h := newRing(t, data.UFC, Format1v1, 80)
	s := newStepper(&h.w, h.r)
	plain := s.tapNeed(0, h.p(1))
	if h.p(0).MMA.TopPosition = 100; s.tapNeed(0, h.p(1)) != plain-onTop {
		t.Errorf("%d presses from the top, %d without", s.tapNeed(0, h.p(1)), plain)
	}
}
