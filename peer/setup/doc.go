// Package setup is what the two players agree on inside the secure link
// before frame 0: versions, the host's rules, both teams, and a match seed
// that neither of them picked.
//
//	host                                             joiner
//	 | offer, commit = SHA-256(s | r)  ------------>  |
//	 |  <------------------------------  offer, t     |   t only after the commit
//	 | offer, commit, s, r  ----------------------->  |   checks the commit
//	 |                                                |
//	 +---- seed = first 8 bytes of SHA-256(s | t) ----+
//
// There is no acknowledgement and no order to keep: each message holds all
// its sender has to say so far, and is repeated until the other side's says
// more. Loss, repetition and reordering change nothing. A message is
//
//	kind 1 | stage 1 | lv16 offer | stage 1+: host commit 32, joiner t 16
//	                              | stage 2:  host s 16, r 16
//
// and travels as the message section of a full wire packet, so an unknown
// version is seen by its magic before anything else is read.
package setup

import "errors"

var (
	// ErrMalformed: a message that no version of this protocol sends.
	ErrMalformed = errors.New("malformed set-up message")
	// ErrIncompatible: versions, game data or settings that do not match. The
	// error text is one sentence that says which side must do what.
	ErrIncompatible = errors.New("the two sides do not match")
	// ErrCheated: the opponent changed what it had committed itself to.
	ErrCheated = errors.New("the opponent broke the seed agreement")
)
