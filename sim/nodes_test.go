package sim

import (
	"testing"

	"backstep/sim/data"
)

// MST-13: every node has its phases, its length and its flag, and belongs to some ruleset.
func TestNodesAreData(t *testing.T) {
	owned := map[data.NodeKind]bool{}
	for rules := range Ruleset(data.RulesCount) {
		r := kit(t).Ruleset(rules)
		for k, n := range r.Nodes {
			if n.Frames == 0 {
				continue
			}
			owned[data.NodeKind(k)] = true
			if n.Entry == 0 || n.Exit == 0 || n.Entry&n.Exit != 0 {
				t.Errorf("%s, %s: %+v", rules, data.NodeKind(k), n)
			}
		}
	}
	if len(owned) != data.NodeKinds {
		t.Fatalf("%v", owned)
	}
	// A node does not begin outside its phases, nor without its rules.
	g := newRing(t, data.SF, Format1v1, 300)
	s := newStepper(&g.w, g.r)
	if s.beginNode(data.SFKOReplay) || s.beginNode(data.WWEPin) || g.w.match.Nodes != [data.NodeKinds]int16{} {
		t.Fatal("a node began where it may not")
	}
}

// MST-14 SFKOReplay: it follows a knockout, not time over, blocks input and holds up the next round.
func TestKOReplay(t *testing.T) {
	g := newRing(t, data.SF, Format1v1, 80)
	g.p(1).Health = 1
	g.attack("5l", 0)
	g.until(20, 0, 0, "the knockout", func() bool { return g.w.Phase() == RoundEnd })
	if g.w.match.Nodes[data.SFKOReplay] == 0 || g.w.Obeys(0) || g.w.Obeys(1) {
		t.Fatal("no replay")
	}
	frames := g.until(400, 0, 0, "its end", func() bool { return g.w.match.Nodes[data.SFKOReplay] == 0 })
	if want := int(g.r.Ruleset(data.SF).Nodes[data.SFKOReplay].Frames); frames < want-1 || frames > want {
		t.Fatalf("it ran %d frames", frames)
	}
	h := newRing(t, data.SF, Format1v1, 300)
	h.w.match.Timer = 1
	h.step(0, 0)
	if h.w.Phase() != RoundEnd || h.w.match.Nodes[data.SFKOReplay] != 0 {
		t.Fatal("a replay of time over")
	}
}

// MST-14 UFCRoundEndScorecard.
func TestScorecard(t *testing.T) {
	g := newRing(t, data.UFC, Format1v1, 300)
	g.w.match.Timer, g.w.match.Score = 1, [2]int32{3, 40}
	g.step(0, 0)
	if g.w.match.RoundWinner != JoinWins || g.w.match.Nodes[data.UFCRoundEndScorecard] == 0 {
		t.Fatalf("%+v", g.w.match)
	}
	g.until(400, 0, 0, "the next round", func() bool { return g.w.Phase() == RoundStart })
	if g.w.match.Nodes[data.UFCRoundEndScorecard] != 0 || g.w.match.Score != [2]int32{} {
		t.Fatalf("%+v", g.w.match)
	}
}

// pinned begins a pin or submission of the point of side 1.
func pinned(t *testing.T, rules Ruleset, key string, health int32) *ring {
	t.Helper()
	g := newRing(t, rules, Format1v1, 60)
	f := g.p(1)
	f.Health, f.Action, f.AnimationFrame, f.Duration = health, Down, 0, 100
	g.attack(key, 0)
	g.until(20, 0, 0, "the hold", func() bool { return f.Action == Pinned })
	if g.p(0).Action != Pinning || g.w.match.Owner != 0 || g.w.match.Target != 1 || g.w.Obeys(0) || g.w.Obeys(1) {
		t.Fatalf("%s, %+v", g.p(0).Action, g.w.match)
	}
	return g
}

// MST-14 WWEPin: three counts win the round; presses kick out, more of them with less health.
func TestPin(t *testing.T) {
	g := pinned(t, data.WWE, "pin", 100)
	counts := []int32{}
	for g.w.Phase() == Live {
		g.step(0, 0)
		if v, ok := g.has(EventCount); ok {
			counts = append(counts, v)
		}
	}
	if len(counts) != 3 || counts[0] != 1 || counts[2] != 3 || g.w.match.RoundWinner != HostWins || g.p(1).Health != 100 {
		t.Fatalf("%v, %+v", counts, g.w.match)
	}
	presses := map[int32]int{}
	for _, health := range []int32{1000, 300} {
		g := pinned(t, data.WWE, "pin", health)
		for n := 0; g.p(1).Action == Pinned && n < 200; n++ {
			g.step(0, LightBit<<(n&1))
			if v, ok := g.has(EventKickOut); ok {
				presses[health] = int(v)
			}
		}
		if g.p(1).Action != Wakeup || !g.p(0).Action.Neutral() || g.p(1).Resolve != 80 || g.w.match.Owner != g.w.match.Target {
			t.Fatalf("health %d: %s, %s, resolve %d", health, g.p(0).Action, g.p(1).Action, g.p(1).Resolve)
		}
	}
	if presses[1000] < 3 || presses[300] < presses[1000]+10 {
		t.Fatalf("presses to kick out: %v", presses)
	}
}

// MST-14 WWESubmission: whoever presses more gets ahead; a worn torso gives up sooner.
func TestSubmission(t *testing.T) {
	for _, rules := range []Ruleset{data.WWE, data.UFC} {
		g := pinned(t, rules, "submission", 500)
		n := 0
		for ; g.w.Phase() == Live && n < 300; n++ {
			g.step(LightBit<<(n&1), 0)
		}
		if g.w.match.RoundWinner != HostWins {
			t.Fatalf("%s: no tap-out in %d frames", rules, n)
		}
		h := pinned(t, rules, "submission", 500)
		h.p(1).Wrestling.LimbDamageTorso = 400
		k := 0
		for ; h.w.Phase() == Live && k < 300; k++ {
			h.step(LightBit<<(k&1), 0)
		}
		if k >= n {
			t.Errorf("%s: a worn torso holds %d frames, a fresh one %d", rules, k, n)
		}
		e := pinned(t, rules, "submission", 500)
		for n := 0; e.p(1).Action == Pinned && n < 300; n++ {
			e.step(0, LightBit<<(n&1))
		}
		if e.w.Phase() != Live || e.p(1).Action != Wakeup {
			t.Errorf("%s: no escape: %s", rules, e.p(1).Action)
		}
		both := pinned(t, rules, "submission", 500)
		frames := 0
		for ; both.p(1).Action == Pinned && frames < 400; frames++ {
			both.step(0, 0)
		}
		if want := int(both.r.Ruleset(rules).Nodes[data.WWESubmission].Frames); frames < want-2 || frames > want {
			t.Errorf("%s: it lasts %d frames when nobody presses", rules, frames)
		}
	}
}

// MST-14 SCRingOutTermination: who is launched over the edge loses the round with any health; nobody walks over it.
func TestRingOut(t *testing.T) {
	g := newRing(t, data.SoulCalibur, Format1v1, 80)
	half := g.r.Ruleset(data.SoulCalibur).StageHalf
	g.p(1).X, g.p(0).X = half-Fixed(5<<16), half-Fixed(85<<16)
	g.run(20, 0, RightBit)
	if g.w.match.Fallen != 0 {
		t.Fatal("walked over the edge")
	}
	g.p(1).X, g.p(0).X = half-Fixed(5<<16), half-Fixed(85<<16)
	g.attack("2h", 0)
	g.until(60, 0, 0, "the fall", func() bool { _, ok := g.has(EventRingOut); return ok })
	if g.w.match.Fallen != 2 || g.w.Obeys(0) {
		t.Fatalf("%+v", g.w.match)
	}
	frames := g.until(200, 0, 0, "the end of the round", func() bool { return g.w.Phase() == RoundEnd })
	if want := int(g.r.Ruleset(data.SoulCalibur).Nodes[data.SCRingOutTermination].Frames); frames < want-1 || frames > want {
		t.Errorf("after %d frames", frames)
	}
	if g.w.match.RoundWinner != HostWins || g.p(1).Health == 0 {
		t.Fatalf("%+v, health %d", g.w.match, g.p(1).Health)
	}
	h := newRing(t, data.SF, Format1v1, 80)
	h.p(1).X, h.p(0).X = h.r.Ruleset(data.SF).StageHalf-Fixed(5<<16), h.r.Ruleset(data.SF).StageHalf-Fixed(85<<16)
	h.attack("2h", 0)
	h.run(80, 0, 0)
	if h.w.match.Fallen != 0 || h.w.Phase() != Live {
		t.Fatal("a ring-out where there is a wall")
	}
}

// MST-14 DJEnvironmentFinisherPrompt: a hit on a weak opponent at the wall offers it, special takes it, time ends it.
func TestEnvironment(t *testing.T) {
	at := func() *ring {
		g := newRing(t, data.DefJam, Format1v1, 80)
		half := g.r.Ruleset(data.DefJam).StageHalf
		g.p(1).X, g.p(0).X, g.p(1).Health = half-Fixed(20<<16), half-Fixed(100<<16), 250
		g.attack("5l", 0)
		g.until(20, 0, 0, "the prompt", func() bool { return g.w.match.Nodes[data.DJEnvironmentFinisherPrompt] > 0 })
		if g.w.match.Owner != 0 || g.w.match.Target != 1 || !g.w.Obeys(0) {
			t.Fatalf("%+v", g.w.match)
		}
		return g
	}
	g := at()
	health := g.p(1).Health
	g.run(6, 0, 0)
	g.step(SpecialBit, 0)
	if health-g.p(1).Health != g.r.Ruleset(data.DefJam).EnvironmentDamage || g.p(1).Action != Launched || g.w.match.Owner != g.w.match.Target {
		t.Fatalf("health %d of %d, %s", g.p(1).Health, health, g.p(1).Action)
	}
	h := at()
	h.run(60, 0, 0)
	if h.w.match.Nodes[data.DJEnvironmentFinisherPrompt] != 0 || h.w.match.Owner != h.w.match.Target {
		t.Fatalf("%+v", h.w.match)
	}
	far := newRing(t, data.DefJam, Format1v1, 80)
	far.p(1).Health = 250
	far.attack("5l", 0)
	far.run(20, 0, 0)
	if far.w.match.Nodes[data.DJEnvironmentFinisherPrompt] != 0 {
		t.Fatal("a prompt in the middle of the stage")
	}
}

// wonMatch takes the match to its decision by a knockout of side 1.
func wonMatch(t *testing.T, rules Ruleset) *ring {
	t.Helper()
	g := newRing(t, rules, Format1v1, 80)
	for round := 0; ; round++ {
		g.p(1).Health = 1
		g.apart(80)
		g.attack("5l", 0)
		g.until(30, 0, 0, "the knockout", func() bool { return g.w.Phase() == RoundEnd })
		if round == 1 {
			return g
		}
		g.live(80)
	}
}

// MST-08, MST-09, MST-14 MKFinisherWindow, FEEL-20, V-24: the winner alone acts, a finisher freezes everybody for 18 frames.
func TestFinisherWindow(t *testing.T) {
	g := wonMatch(t, data.MK)
	g.until(400, 0, 0, "the window", func() bool { return g.w.Phase() == FinisherWindow })
	if !g.w.Obeys(0) || g.w.Obeys(1) || g.p(1).Action != Dazed || g.p(1).Health != 0 || g.w.match.MatchWinner != HostWins {
		t.Fatalf("%+v, %s", g.w.match, g.p(1).Action)
	}
	g.apart(80)
	x := g.p(1).X
	g.run(10, 0, LeftBit|LightBit)
	if g.p(1).X != x || g.p(1).Action != Dazed {
		t.Fatal("the loser acts")
	}
	m := g.attack("x-finish", 0)
	g.until(60, 0, 0, "the finisher", func() bool { _, ok := g.has(EventFinisher); return ok })
	if v, _ := g.has(EventFinisher); v != int32(m.ID) || g.w.match.FinisherFreeze != 17 {
		t.Fatalf("freeze %d", g.w.match.FinisherFreeze)
	}
	frames := 1
	for ; g.w.match.FinisherFreeze > 0; frames++ {
		g.step(0, 0)
		if !g.w.Free() {
			t.Fatal("somebody moves in the freeze")
		}
	}
	if frames != 18 {
		t.Fatalf("frozen for %d frames", frames)
	}
	g.until(400, 0, 0, "the end", func() bool { return g.w.Phase() == MatchEnd })
	g.until(400, 0, 0, "the end", func() bool { return g.w.Phase() == PostMatch })
	idle := wonMatch(t, data.MK)
	idle.until(400, 0, 0, "the window", func() bool { return idle.w.Phase() == FinisherWindow })
	frames = idle.until(400, 0, 0, "its end", func() bool { return idle.w.Phase() == MatchEnd })
	if want := int(idle.r.Ruleset(data.MK).Nodes[data.MKFinisherWindow].Frames); frames < want-1 || frames > want {
		t.Fatalf("the window stays %d frames", frames)
	}
	plain := wonMatch(t, data.MK)
	plain.until(400, 0, 0, "the window", func() bool { return plain.w.Phase() == FinisherWindow })
	plain.apart(80)
	plain.attack("5m", 0)
	if n := plain.until(400, 0, 0, "its end", func() bool { return plain.w.Phase() == MatchEnd }); n > afterFinisher+60 {
		t.Fatalf("a plain blow ends the window after %d frames", n)
	}
	other := wonMatch(t, data.SF)
	other.until(400, 0, 0, "the end", func() bool { return other.w.Phase() == MatchEnd })
}

// MST-18: a rewind into the finisher window starts nothing again.
func TestRewindOverFinisher(t *testing.T) {
	g := wonMatch(t, data.MK)
	g.until(400, 0, 0, "the window", func() bool { return g.w.Phase() == FinisherWindow })
	saved := g.w
	var first []Event
	for pass := range 2 {
		w := saved
		var events []Event
		for range 500 {
			w.step(g.r, nil, SuppressCosmetics)
			events = append(events, w.Events()...)
		}
		if pass == 0 {
			first = events
			continue
		}
		if len(events) != len(first) || len(first) == 0 {
			t.Fatalf("%d and %d events", len(events), len(first))
		}
		for i := range events {
			if events[i] != first[i] || (events[i].Kind == EventNode && events[i].Value == int32(data.MKFinisherWindow)) {
				t.Fatalf("%+v", events[i])
			}
		}
	}
}

// A rematch after any mode begins clean.
func TestRematchEverywhere(t *testing.T) {
	everyMode(t, func(t *testing.T, rules Ruleset, format Format) {
		g := &ring{t: t, r: kit(t)}
		g.reset(rules, format, 4)
		for f, in := range busyTape(4, 1200) {
			enrich(&g.w, f)
			g.w.step(g.r, in[:], Emit)
		}
		c := g.w.Config()
		c.Seed = 99
		var fresh, again World
		if err := fresh.reset(g.r, c); err != nil {
			t.Fatal(err)
		}
		again = g.w
		if err := again.reset(g.r, c); err != nil || again != fresh {
			t.Fatalf("not a fresh world: %v", err)
		}
	})
}
