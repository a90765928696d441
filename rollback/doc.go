// Package rollback decides when a deterministic game is stepped, so that players far apart see their own input at once.
//
// A Session owns the history of one game: it predicts the inputs that have not arrived, steps a frame, and when an input
// arrives that differs from the guess it restores the state before that frame and steps again up to the present, all
// within one tick. A Driver puts a session on the net: it reads and writes packets, paces the ticks so that all players
// run level, and measures what a match report needs. Neither knows the game, a socket or a clock: time is an int64 of
// microseconds from any fixed origin, handed in, and packets are byte slices.
//
// Frames are numbered from 0. A state carries the label of the frame that produced it; the state before frame 0 is
// labelled -1. Every type is owned by one goroutine. After construction nothing here allocates while a match runs.
//
// What a tick does:
//
//	               ┌─────────────── correction due? ───────────────┐
//	               │ yes                                         no │
//	      snapshot still kept?                                      │
//	       │ no            │ yes                                    │
//	FallbackOffered   restore, step again                           │
//	(state untouched)      │                                        │
//	                 deeper than the cap?                           │
//	                  │ yes         │ no                            │
//	               Recovering       └──────────────┬────────────────┘
//	               (no new frame)           next - confirmed > window?
//	                                         │ yes          │ no
//	                                       stall       step one new frame
//
// What a player is shown:
//
//	         correction deeper than the cap, or 250 ms of stall
//	Running ───────────────────────────────────────────────────▶ Recovering
//	   ▲  ▲                                                          │
//	   │  └──── a tick without correction that advances ─────────────┘
//	   │
//	   │ answer          sustained pressure, or a snapshot that is gone
//	FallbackOffered ◀────────────────────────────────────────────────
package rollback
