// Package sim is the deterministic world of the game: what happens in one frame of 1/60 s, given the inputs of all players.
//
// A World is one value without pointers. Copying it is saving it, assigning it back is loading it. It knows no clock, no
// network, no logger and no floating point; equal states and inputs give equal states on every machine.
//
// One call of Step is one frame, always in this order:
//
//	1  input      each player's word is applied to its own fighter: buffer, taps, cancels, what to do next;
//	              who moved toward the opponent is recorded
//	2  freeze     per fighter: HitstopFrames > 0 ? HitstopFrames-- : AnimationFrame++
//	3  timers     air juggle, Heat, soul charge, critical edge, reversal edge, Ki Charge, Power Crush, stance entry,
//	              recovery and duration; then Rage of every fighter
//	   motion     speeds, gravity, pushback, bodies, walls, throws, shots
//	   hits       geometry, priority, guard, damage, reaction, hitstop, cancel windows
//	   match      timer, knockouts, rounds, phases
//	4  chance     every fighter's generator is stepped; only now is its state final and its hash defined
//	5  result     the frame number is incremented, one present event is made, the tick result is returned
//
// The match is a machine with eight phases and twelve legal changes:
//
//	Uninitialized ─> Intro ─> RoundStart ─> Live ─> RoundEnd ─┬─────────────────────────> MatchEnd ─> PostMatch
//	                   ^          ^                           ├─> FinisherWindow ─> (MatchEnd | PostMatch)
//	                   │          └───────── another round ───┤
//	                   │                                      └─────────────────────────────────────> PostMatch
//	                   └───────────────────────────────────────────────────────────────── rematch ───────┘
//
// The canonical encoding, little-endian throughout, which is hashed, compared and sent, is
//
//	seed u64 | frame i32 | fighters n u8 | n × fighter | who is where, settings | match | 2 × team | match generator
//
// with the fields of a fighter in the order of fighter.go. One of a 1v1 takes about 380 bytes. What a step only reports (events, hits, inputs shown) stands in the
// World too but is neither encoded nor hashed nor compared.
//
// What a hit does is worked out once (damage.go) and handed to effects, which only apply it to attributes (effects.go); what it
// should feel like is handed on as a HitConfirmed and by nothing else. What differs between rulesets is data; the code of a
// mechanic asks the ruleset whether it exists.
//
// A team is 1, 2 or 3 fighters. One leads (the point), an assist comes for one move, and a second one may stand beside the point
// under the same hands; the others are off the stage:
//
//	Bench ──tag in, knockout of the point──> OnPoint ──tag out, snapback, knockout──> Bench
//	Bench ──call──> Assisting ──its move is over──> Bench
//	Bench ──Cross Assault──> Crossing ──time is over──> Bench,  or ──the point is out──> OnPoint
//
// Frame labels: the state after frame N has label N. The first frame is 0, a fresh world has label -1.
//
// Slots: fighter k of side s stands in slot s + 2k, so that a 1v1 uses slots 0 and 1.
package sim
