package sim

import (
	"testing"

	"backstep/sim/data"
)

// reach gives a distance at which the first window of a move touches a standing opponent.
func reach(m *data.Move) int {
	var moved Fixed
	for f := int32(1); f <= m.Hits[0].Start; f++ {
		vx, _, _ := m.Speed(f)
		moved += vx
	}
	return max(60, (m.Hits[0].X + moved).Whole())
}

// plain tells whether a command alone starts a move under the rules of SF: no stance, meter of another ruleset or state is needed.
func plain(k *data.Fighter, m *data.Move) bool {
	return m.In == 0 && k.Command(m.From, m.Button, m.Direction) == m.ID && m.Needs == data.Needs{} && m.TargetRequires == 0
}

// SIM-24, ABIL-07, ABIL-08, FDAT-01, FDAT-20, HITB-01, HITB-02, HITB-03, HITB-04: every ground strike hits on its first active
// frame, for the damage of its file, and leaves exactly the advantage of its file, on hit and on block.
func TestFrameDataIsWhatHappens(t *testing.T) {
	r := data.Embedded()
	for _, k := range r.Fighters() {
		for id := 1; id <= k.Moves(); id++ {
			m := k.Move(data.MoveID(id))
			if m.From != data.Ground || m.Guard == data.Grab || m.Hitless() || m.Shot.Spawn != 0 || !plain(k, m) {
				continue
			}
			for _, block := range []bool{false, true} {
				name := k.Key + " " + m.Key
				d := newDuel(t, k.Key, "tarn", reach(m))
				d.f(0).SuperMeter = d.f(0).MaxSuperMeter
				d.attack(0, m.Key, 0)
				guard := uint16(0)
				if block {
					guard = RightBit
					if m.Guard == data.Low {
						guard |= DownBit
					}
				}
				first := int32(0)
				attackerFree, defenderFree := 0, 0
				chip, damage, contacts := int32(0), int32(0), 0
				for step := 1; step < 300 && (attackerFree == 0 || defenderFree == 0); step++ {
					word := uint16(0)
					if d.f(0).AnimationFrame >= m.Startup {
						word = guard
					}
					d.step(0, word)
					for _, h := range d.w.Hits() {
						contacts++
						if first == 0 {
							first = d.f(0).AnimationFrame
							if h.Damage != m.Damage && !block {
								t.Errorf("%s: damage %d, file says %d", name, h.Damage, m.Damage)
							}
						}
						if h.Blocked != block {
							t.Errorf("%s: blocked %v", name, h.Blocked)
						}
						if h.Blocked {
							chip += h.Damage
						} else {
							damage += h.Damage
						}
					}
					if first != 0 && attackerFree == 0 && d.f(0).Action.Neutral() {
						attackerFree = step
					}
					if first != 0 && defenderFree == 0 && d.f(1).Action.Neutral() {
						defenderFree = step
					}
				}
				if first != m.Startup+1 {
					t.Errorf("%s: first contact on frame %d, active from %d", name, first, m.Startup+1)
					continue
				}
				want := m.OnHit
				if block {
					want = m.OnBlock
				}
				if (block || m.Reaction == data.Stagger) && contacts == len(m.Hits) && int32(defenderFree-attackerFree) != want {
					t.Errorf("%s (block %v): advantage %d, file says %d", name, block, defenderFree-attackerFree, want)
				}
				if len(m.Hits) > 1 && contacts < 2 {
					t.Errorf("%s (block %v): %d of %d windows touched", name, block, contacts, len(m.Hits))
				}
				if block && chip != m.Chip*int32(contacts) {
					t.Errorf("%s: chip %d over %d contacts", name, chip, contacts)
				}
				if d.f(1).Health+d.f(1).RecoverableHealth != d.f(1).MaxHealth-damage {
					t.Errorf("%s: health %d and %d after %d", name, d.f(1).Health, d.f(1).RecoverableHealth, damage)
				}
			}
		}
	}
}

// Every move of every fighter that needs nothing more can be started by its command. For the others see TestRosterActivates.
func TestEveryMoveIsReachable(t *testing.T) {
	for _, k := range data.Embedded().Fighters() {
		if k.Moves() < 16 {
			t.Errorf("%s has %d moves", k.Key, k.Moves())
		}
		for id := 1; id <= k.Moves(); id++ {
			m := k.Move(data.MoveID(id))
			if !plain(k, m) {
				continue
			}
			for _, facing := range []int8{1, -1} {
				d := newDuel(t, k.Key, k.Key, 400)
				slot := 0
				if facing < 0 {
					slot = 1
				}
				words := [2]uint16{}
				d.f(slot).SuperMeter = m.Cost
				if m.From == data.Air {
					words[slot] = UpBit
					d.step(words[0], words[1])
					words[slot] = 0
					d.until(20, 0, 0, "the jump", func() bool { return d.f(slot).Action == Airborne })
				}
				words[slot] = command(m, facing)
				d.step(words[0], words[1])
				if d.f(slot).Action != Attack || d.f(slot).Move != m.ID || d.f(slot).Meter != 0 {
					t.Errorf("%s %s, facing %d: action %s, move %d, meter %d", k.Key, m.Key, facing, d.f(slot).Action, d.f(slot).Move, d.f(slot).Meter)
				}
				if m.Cost > 0 {
					d = newDuel(t, k.Key, k.Key, 400)
					d.f(0).SuperMeter = m.Cost - 1
					if d.step(command(m, 1), 0); d.f(0).Action == Attack && d.f(0).Move == m.ID {
						t.Errorf("%s %s started without the meter for it", k.Key, m.Key)
					}
				}
			}
		}
	}
}

// High must be blocked standing, low crouching, mid either way; a grab not at all.
func TestGuardHeights(t *testing.T) {
	cases := []struct {
		key           string
		stand, crouch bool
	}{{"5m", true, true}, {"6h", true, false}, {"2m", false, true}, {"throw", false, false}}
	for _, c := range cases {
		for _, low := range []bool{false, true} {
			m := data.Embedded().FighterByKey("sable").MoveByKey(c.key)
			d := newDuel(t, "sable", "tarn", min(90, reach(m)))
			guard := RightBit
			want := c.stand
			if low {
				guard |= DownBit
				want = c.crouch
			}
			d.attack(0, c.key, 0)
			blocked, touched := false, false
			for range 40 {
				word := uint16(0)
				if d.f(0).Action == Attack && d.f(0).AnimationFrame >= m.Startup {
					word = guard
				}
				d.step(0, word)
				n, b := d.hits()
				touched = touched || n+b > 0
				blocked = blocked || b > 0
			}
			if !touched || blocked != want {
				t.Errorf("%s, crouching %v: touched %v, blocked %v, want %v", c.key, low, touched, blocked, want)
			}
		}
	}
}

// Blocking is holding away from the attacker; neutral, forward and in the air it does not happen.
func TestGuardDirection(t *testing.T) {
	for _, c := range []struct {
		word uint16
		want bool
	}{{0, false}, {LeftBit, false}, {RightBit, true}, {LeftBit | RightBit, false}, {RightBit | UpBit, false}} {
		d := newDuel(t, "sable", "tarn", 70)
		m := d.attack(0, "5l", 0)
		d.until(10, 0, 0, "the active frame", func() bool { return d.f(0).AnimationFrame == m.Startup })
		d.step(0, c.word)
		if _, b := d.hits(); (b > 0) != c.want {
			t.Errorf("holding %#x: blocked %v", c.word, b > 0)
		}
	}
}

// HITB-08, HITB-09, HITB-10: a window hits once, in a straight play and after going back over it.
func TestHitOnce(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 70)
	d.attack(0, "5h", 0)
	landed := 0
	var before World
	for range 60 {
		if landed == 0 {
			before = d.w
		}
		d.step(0, 0)
		n, _ := d.hits()
		landed += n
	}
	if landed != 1 {
		t.Fatalf("5h hit %d times", landed)
	}
	again := 0
	for range 30 {
		before.Step(nil, SuppressCosmetics)
		again += len(before.Hits())
	}
	if again != 1 {
		t.Fatalf("after going back it hit %d times", again)
	}
	var r HitRegistry
	key := HitKey(0, 1, 3, 2, 77)
	if !r.RegisterHitIfAllowed(key) || r.RegisterHitIfAllowed(key) || !r.Has(key) {
		t.Fatal("a key must be taken exactly once")
	}
	for i := 1; i < len(r); i++ {
		if !r.RegisterHitIfAllowed(HitKey(0, 1, 3, 2, 77+int32(i))) {
			t.Fatal("room for every window of a move")
		}
	}
	if r.RegisterHitIfAllowed(HitKey(0, 1, 4, 0, 1)) {
		t.Fatal("a full set takes nothing")
	}
	if r.Reset(); r.Has(key) || !r.RegisterHitIfAllowed(key) {
		t.Fatal("Reset forgets")
	}
}

// HITB-05, FEEL-01, FEEL-02, FEEL-09: the payload of a counter-hit and of a block, and the freeze they lead to.
func TestHitConfirmedPayload(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 75)
	m := d.attack(0, "5h", HeavyBit) // Tarn's own heavy is slower
	d.until(20, 0, HeavyBit, "the hit", func() bool { n, _ := d.hits(); return n > 0 })
	h := d.w.Hits()[0]
	want := HitConfirmed{Frame: d.w.Frame(), Damage: 82 * 5 / 4, Hitstun: m.Hits[0].Hitstun + 2, AttackerHitstop: 6 + 2, DefenderHitstop: 7 + 2,
		DefenderHitlag: 5, Attacker: 0, Defender: 1, AttackerID: 1, DefenderID: 2, Move: m.ID, CounterHit: true}
	if h != want {
		t.Fatalf("payload %+v\nwant    %+v", h, want)
	}
	if a, b, mv := h.Names(); a != "Sable" || b != "Tarn" || mv != "Crosswind" {
		t.Fatal(a, b, mv)
	}
	if d.f(0).HitstopFrames != 8 || d.f(1).HitstopFrames != 9 || d.f(1).HitlagFrames != 5 {
		t.Fatalf("freeze %d, %d + %d", d.f(0).HitstopFrames, d.f(1).HitstopFrames, d.f(1).HitlagFrames)
	}
	if d.f(1).Health != d.f(1).MaxHealth-102 {
		t.Fatalf("health %d", d.f(1).Health)
	}
	d = newDuel(t, "sable", "tarn", 75)
	d.attack(0, "5h", 0)
	d.until(20, 0, RightBit, "the block", func() bool { _, b := d.hits(); return b > 0 })
	if d.f(0).HitstopFrames != 4 || d.f(1).HitstopFrames != 4 || d.f(1).HitlagFrames != 0 {
		t.Fatal("S-08: block hitstop applies to both sides alike")
	}
	// FEEL-03, X-06: frames on which everybody is frozen are free.
	for i := 4; i > 0; i-- {
		if !d.w.Free() {
			t.Fatalf("hitstop %d is not free", i)
		}
		d.step(0, 0)
	}
	if d.w.Free() {
		t.Fatal("free without hitstop")
	}
}

// Two fighters that hit each other in the same frame are both hit; the higher priority wins; a strike beats a grab.
func TestTradesAndPriority(t *testing.T) {
	d := newDuel(t, "sable", "sable", 70)
	d.step(LightBit, LightBit)
	d.until(20, LightBit, LightBit, "the trade", func() bool { return len(d.w.Hits()) > 0 })
	if len(d.w.Hits()) != 2 || d.f(0).Action != Hitstun || d.f(1).Action != Hitstun || d.f(0).Health != d.f(1).Health {
		t.Fatalf("trade: %d hits, %s, %s", len(d.w.Hits()), d.f(0).Action, d.f(1).Action)
	}
	d = newDuel(t, "sable", "sable", 70)
	d.step(LightBit, ThrowBit)
	d.until(20, 0, 0, "a contact", func() bool { return len(d.w.Hits()) > 0 || d.f(0).Action == Thrown })
	if d.f(1).Action != Hitstun || len(d.w.Hits()) != 1 {
		t.Fatalf("strike against grab: %s, %s", d.f(0).Action, d.f(1).Action)
	}
	d = newDuel(t, "sable", "sable", 60)
	d.step(ThrowBit, ThrowBit)
	d.until(20, 0, 0, "the tech", func() bool { return d.f(0).Action == Teched })
	if d.f(1).Action != Teched || d.f(0).Health != d.f(0).MaxHealth {
		t.Fatalf("two grabs: %s, %s", d.f(0).Action, d.f(1).Action)
	}
	d = newDuel(t, "sable", "tarn", 75)
	d.f(0).Meter, d.f(1).SuperMeter = 2000, 2000
	d.attack(0, "5s", 0) // connects on frame 16 with priority 1
	for d.f(0).AnimationFrame < 8 {
		d.step(0, 0)
	}
	d.f(1).X = d.f(0).X + Fixed(150<<16)
	d.attack(1, "2s", 0) // invincible to strikes up to frame 10, active from 9
	d.until(40, 0, 0, "a hit", func() bool { return len(d.w.Hits()) > 0 })
	if h := d.w.Hits()[0]; h.Attacker != 1 || d.f(0).Action != Launched {
		t.Fatalf("an invincible move lost: %+v", h)
	}
}

// Pushback moves the defender; at the wall it moves the attacker instead.
func TestCornerPushback(t *testing.T) {
	wall := data.Embedded().Ruleset(data.SF).StageHalf
	open := newDuel(t, "sable", "tarn", 70)
	a, b := open.f(0).X, open.f(1).X
	open.attack(0, "5m", 0)
	open.run(60, 0, 0)
	if open.f(1).X <= b || open.f(0).X != a {
		t.Fatalf("midscreen: attacker moved %d, defender %d", (open.f(0).X - a).Whole(), (open.f(1).X - b).Whole())
	}
	push := open.f(1).X - b
	corner := newDuel(t, "sable", "tarn", 70)
	corner.f(1).X, corner.f(0).X = wall, wall-Fixed(70<<16)
	a = corner.f(0).X
	corner.attack(0, "5m", 0)
	corner.run(60, 0, 0)
	if corner.f(1).X != wall || a-corner.f(0).X != push {
		t.Fatalf("corner: defender at %d, attacker pushed %d, want %d", corner.f(1).X.Whole(), (a - corner.f(0).X).Whole(), push.Whole())
	}
}

// A launcher takes the opponent off its feet; hits in the air are limited; it falls, lies, gets up and cannot be hit meanwhile.
func TestKnockdownAndJuggle(t *testing.T) {
	rules := data.Embedded().Ruleset(data.SF)
	d := newDuel(t, "sable", "tarn", 60)
	d.attack(0, "2h", 0)
	d.until(20, 0, 0, "the launch", func() bool { return d.f(1).Action == Launched })
	if d.f(1).Mechanics.AirJuggle == 0 {
		t.Fatal("the juggle timer does not run")
	}
	var seen []Action
	for range 200 {
		d.step(0, 0)
		if n := len(seen); n == 0 || seen[n-1] != d.f(1).Action {
			seen = append(seen, d.f(1).Action)
		}
	}
	want := []Action{Launched, Down, Wakeup, Idle}
	if len(seen) != len(want) {
		t.Fatalf("%v", seen)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Fatalf("%v, want %v", seen, want)
		}
	}
	d = newDuel(t, "sable", "tarn", 60)
	d.attack(0, "2h", 0)
	d.until(20, 0, 0, "the launch", func() bool { return d.f(1).Action == Launched })
	s := newStepper(&d.w, data.Embedded())
	for hits := uint8(0); hits < 9; hits++ {
		d.f(1).JuggleHits = hits
		if refused := s.refuses(1)&data.AgainstStrike != 0; refused != (int32(hits) >= rules.JuggleLimit) {
			t.Errorf("%d hits in the air: refused %v", hits, refused)
		}
	}
}

// A jumping fighter that is hit by a plain strike falls back and lands on its feet.
func TestRecoil(t *testing.T) {
	d := newDuel(t, "tarn", "sable", 90)
	d.step(0, UpBit)
	d.until(10, 0, 0, "the jump", func() bool { return d.f(1).Action == Airborne })
	d.f(1).Y = Fixed(10 << 16)
	d.attack(0, "5l", 0)
	d.f(1).Y, d.f(1).VY = Fixed(30<<16), 0
	d.until(10, 0, 0, "the hit", func() bool { return d.f(1).Action == Recoil })
	d.until(60, 0, 0, "landing", func() bool { return d.f(1).Action == Landing })
	d.until(10, 0, 0, "freedom", func() bool { return d.f(1).Action.Neutral() })
}

// X-12 in part, ATTR-10: recoverable health comes back while free, and is lost to a hit.
func TestRecoverableHealth(t *testing.T) {
	every := int(data.Embedded().Ruleset(data.SF).RecoverEvery)
	d := newDuel(t, "sable", "tarn", 300)
	d.f(1).Health, d.f(1).RecoverableHealth = 500, 4
	d.run(2*every, 0, 0)
	if d.f(1).Health != 502 || d.f(1).RecoverableHealth != 2 {
		t.Fatalf("%d and %d", d.f(1).Health, d.f(1).RecoverableHealth)
	}
	d.w.match.Phase = RoundEnd
	if d.run(2*every, 0, 0); d.f(1).Health != 502 {
		t.Fatal("health comes back after the round")
	}
	s := newStepper(&d.w, data.Embedded())
	if s.hurt(&contact{attacker: 0, defender: 1}, 10); d.f(1).Health != 492 || d.f(1).RecoverableHealth != 0 {
		t.Fatal("a hit takes what could have been recovered")
	}
}

// What a wall stops of the pushback of a jump-in, or of a shot, is nobody's.
func TestCornerPushbackIsOnlyForStrikesFromTheGround(t *testing.T) {
	wall := data.Embedded().Ruleset(data.SF).StageHalf
	d := newDuel(t, "sable", "tarn", 90)
	d.f(1).X, d.f(0).X = wall, wall-Fixed(80<<16)
	d.step(UpBit, 0)
	d.until(10, 0, 0, "the jump", func() bool { return d.f(0).Action == Airborne })
	d.until(60, 0, 0, "the way down", func() bool { return d.f(0).VY < 0 && d.f(0).Y < Fixed(120<<16) })
	d.step(LightBit, 0)
	d.until(30, 0, 0, "the hit", func() bool { return d.f(1).Action == Hitstun })
	x := d.f(0).X
	if d.f(1).Push == 0 || d.f(1).PushesBack != 0 {
		t.Fatalf("push %d, gives back %d", d.f(1).Push, d.f(1).PushesBack)
	}
	if d.run(40, 0, 0); d.f(0).X != x {
		t.Fatalf("the wall pushed a jumping attacker %d", (d.f(0).X - x).Whole())
	}
}

// In blockstun the stance still counts, holding back no longer does; in neutral both do; nobody guards in the air or in an attack.
func TestGuards(t *testing.T) {
	low := data.Embedded().FighterByKey("sable").MoveByKey("2m")
	high := data.Embedded().FighterByKey("sable").MoveByKey("6h")
	for _, c := range []struct {
		action Action
		air    uint8
		held   uint16
		move   *data.Move
		want   bool
	}{
		{Blockstun, 0, 0, low, false}, {Blockstun, 0, LeftBit, low, false}, {Blockstun, 0, DownBit, low, true}, {Blockstun, 0, LeftBit | DownBit, low, true},
		{Blockstun, 0, 0, high, true}, {Blockstun, 0, DownBit, high, false},
		{Idle, 0, 0, high, false}, {WalkBack, 0, RightBit, high, true}, {Crouch, 0, RightBit | DownBit, high, false}, {Crouch, 0, DownBit, low, false},
		{Crouch, 0, RightBit | DownBit, low, true}, {Airborne, 1, RightBit, high, false}, {Attack, 0, RightBit, high, false}, {Hitstun, 0, RightBit, high, false},
	} {
		var w World
		w.fighters[1] = Fighter{Action: c.action, Air: c.air}
		s := stepper{w: &w}
		s.in[1].held = c.held
		if got := s.guards(&contact{defender: 1, move: c.move, dir: 1}); got != c.want {
			t.Errorf("%s, holding %#x, against %s: %v", c.action, c.held, c.move.Key, got)
		}
	}
}
