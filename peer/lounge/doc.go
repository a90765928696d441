// Package lounge is where two players are when no match runs: before the
// first one they measure the link and pick, after each one they agree on
// another. It uses the link of the matches, which stays open all the time.
//
//	Looking ──> Choosing ──> Ready ──both──> the match's set-up
//	   │            ^          │
//	   │            └──────────┘ taken back
//	   └──────────────> Leave (said three times) ──> end
//
// Each side repeats all it has to say, so loss, repetition and reordering
// change nothing. A message travels as the message section of a full packet:
//
//	kind 4 | match u16 | state u8 | seq u16 | echo u16 | hold u16 | rtt u16 | loss u16 | flags u8
//
//	echo   newest seq heard                       little-endian
//	hold   how long ago that was, in 16 µs
//	rtt    what the sender measured, in 100 µs, FFFF not yet
//	loss   what the sender missed, in 1/100 %, FFFF not yet
//	flags  1: echo is set
//
// A Loop that has begun its set-up says so with messages of another kind: for
// a side that was Ready, that is as good as the other's Ready.
package lounge
