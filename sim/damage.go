package sim

import "backstep/sim/data"

// scale applies a factor in ten-thousandths, truncating toward zero.
func scale(n, factor int32) int32 { return int32(int64(n) * int64(factor) / data.Unit) }

// last gives row i of a table whose last row stays.
func last(table []int32, i int) int32 {
	if len(table) == 0 {
		return data.Unit
	}
	return table[min(i, len(table)-1)]
}

// damage works out what a hit does, in the order base, counter-hit, starter (from the second hit of a combo on), combo, juggle,
// multiplier, truncating after each step, at least 1 (S-11).
func (s *stepper) damage(c *contact) int32 {
	d := &s.w.fighters[c.defender]
	n := c.base
	if c.counter {
		n = scale(n, s.rules.CounterHit)
	}
	if d.ComboHits > 0 {
		n = scale(n, s.rules.Starter[d.ComboStarter])
	}
	n = scale(n, last(s.rules.Combo, int(d.ComboHits)))
	if d.Air != 0 {
		table := s.rules.Juggle
		if len(c.move.Juggle) > 0 {
			table = c.move.Juggle
		}
		n = scale(n, last(table, int(d.JuggleHits)))
	}
	return max(1, scale(n, s.rules.Multiplier))
}

// The appliers below change a fighter by a magnitude that has been worked out before. They never scale.

// hurt takes health. What could have been recovered is lost.
func (f *Fighter) hurt(n int32) {
	f.Health = max(0, f.Health-n)
	f.Recoverable = 0
}

// EvaluateBlockChipDamage gives the health a blocked hit takes from a fighter: the move's chip, but never the last point.
func EvaluateBlockChipDamage(chip, health int32) int32 { return max(0, min(chip, health-1)) }

// chip takes health that can be recovered: health and recoverable together stay the same.
func (f *Fighter) chip(n int32) {
	f.Health -= n
	f.Recoverable += n
}

// gain adds super meter up to the most the fighter can have.
func (f *Fighter) gain(n int32) { f.Meter = min(f.MaxMeter, f.Meter+n) }
