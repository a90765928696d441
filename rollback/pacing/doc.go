// Package pacing keeps players level: each runs its ticks a little faster or slower until all of them predict equally
// far. Time is an int64 of microseconds, rates are parts per billion of the nominal rate, all arithmetic is on integers.
//
//	packets ──▶ lag samples ──▶ Estimator: mean of the middle third of 30 ──▶ offset ─┐
//	                      └───▶ round trip in ticks ──▶ phase: 0 or half a tick ──────┤
//	                                                                                  ▼
//	 next tick ◀── brake near the window ◀── clamp 6 % ◀── P (1 % / 0.5 % … 5 %) + I (5 %)
//
// A lag is how late the other's packet came, measured on the tick clocks:
//
//	lag = (my newest tick - the tick it was sent on) · my tick length + (arrival - time of my newest tick)
//
// so (mine - theirs)/2 is how far I am ahead, and mine + theirs is the round trip, free of tick quantisation.
package pacing
