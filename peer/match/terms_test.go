package match

import (
	"math/rand/v2"
	"strings"
	"testing"

	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/accord"
	"backstep/rollback/quality"
)

// X-28, QUAL-13, MODE-05: both sides ask for other modes and windows all through a match on a bad line, until its very end. Both play
// all frames to one state, change at the same frames, and report the mode they ended in.
func TestModesChangeDuringAMatch(t *testing.T) {
	changes := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const frames = 400
		var got [2][]accord.Event
		var d *duel
		side := func(i int) player {
			return player{
				net: network{delay: 20_000 + rng.Int64N(60_000), jitter: 10_000, loss: rng.Float64() / 5},
				config: func(c *Config) {
					c.Unattended, c.Delay = true, rollback.DelayByMode
					c.Observer.Changed = func(e accord.Event) {
						if e.Changed {
							got[i] = append(got[i], e)
						}
					}
					c.Observer.Ticked = func(int64, rollback.Result) {
						if rng.IntN(25) == 0 {
							d.loops[i].Driver().Accord().Ask(accord.Terms{Mode: quality.Mode(rng.IntN(3)), Window: 8})
						}
					}
				},
			}
		}
		d = newDuel(seed, frames, [2]player{side(0), side(1)})
		d.run(120 * second)
		d.same(t, frames)
		for i, l := range d.loops {
			o := l.Outcome()
			mode := quality.Rollback
			for k, e := range got[i] {
				if e.Frame < frames {
					mode = e.Terms.Mode
				}
				if k < len(got[1-i]) && e != got[1-i][k] {
					t.Errorf("seed %d: change %d is %+v on one side, %+v on the other", seed, k, e, got[1-i][k])
				}
			}
			changes += len(got[i])
			if o.Stats.Mode != mode {
				t.Errorf("seed %d: side %d reports %v, ended in %v", seed, i, o.Stats.Mode, mode)
			}
		}
	}
	if changes < 200 {
		t.Errorf("%d changes in all", changes)
	}
}

// QUAL-02, QUAL-03, LOCK-27: without players, automatic mode grades the link once it is measured, and both sides go to what the
// grade says at one frame.
func TestAutomaticModeWithoutPlayers(t *testing.T) {
	for _, c := range []struct {
		delay int64
		want  quality.Mode
	}{{20_000, quality.Rollback}, {60_000, quality.Hybrid}, {90_000, quality.Delay}} {
		auto := player{net: network{delay: c.delay}, config: func(c *Config) { c.Unattended, c.AutoMode, c.Delay = true, true, rollback.DelayByMode }}
		d := newDuel(8, 900, [2]player{auto, auto})
		d.run(60 * second)
		d.same(t, 900)
		for i, l := range d.loops {
			o := l.Outcome()
			told := 0
			for _, e := range o.Events {
				if e.Kind == "mode" && strings.HasPrefix(e.Text, c.want.String()+" mode") {
					told++
				}
			}
			if o.Stats.Mode != c.want || (told > 0) != (c.want != quality.Rollback) {
				t.Errorf("%d µs one way: side %d in %v, want %v, events %v", c.delay, i, o.Stats.Mode, c.want, o.Events)
			}
		}
	}
}

// QUAL-11, QUAL-12: a ranked match in which both sides measure too bad a line stops counting when the offer is made, and is without
// contest on the side that declines.
func TestRankedMatchOnABadLine(t *testing.T) {
	var d *duel
	side := func(i int) player {
		return player{
			net:   network{delay: 250_000},
			offer: func(o *setup.Offer) { o.Ranked = true },
			config: func(c *Config) {
				c.Observer.Ticked = func(int64, rollback.Result) {
					if _, ok := d.loops[i].Driver().Question(); ok {
						d.loops[i].Driver().Answer(i == 0)
					}
				}
			},
		}
	}
	d = newDuel(9, 3000, [2]player{side(0), side(1)})
	d.run(200 * second)
	d.same(t, 3000)
	a, b := d.loops[0].Outcome(), d.loops[1].Outcome()
	if !a.Suspended || !b.Suspended && !b.NoContest || a.NoContest || !b.NoContest || a.Stats.Mode != quality.Rollback {
		t.Errorf("suspended %v %v, no contest %v %v, %v", a.Suspended, b.Suspended, a.NoContest, b.NoContest, a.Stats.Mode)
	}
}

// same fails unless both sides played all frames to one state.
func (d *duel) same(t *testing.T, frames int) {
	t.Helper()
	a, b := d.outcomes()
	if a.Confirmed != frames || b.Confirmed != frames || a.Err != nil || b.Err != nil || a.FinalHash != b.FinalHash {
		t.Errorf("%d and %d frames of %d, %016x and %016x, %v, %v", a.Confirmed, b.Confirmed, frames, a.FinalHash, b.FinalHash, a.Err, b.Err)
	}
}
