// Command matchsoak plays whole matches of the rollback core in virtual time over networks that fail in every way, and
// looks for a broken promise.
//
//	matchsoak [-n 100000] [-seed 1] [-frames 120] [-jobs 2] [-trace FILE]… [-without FAULT,…] [-planted DIR]
//
// Everything about a match comes from its seed: two to four players, windows, delays, the form of the packets, the game,
// and the faults of each direction and each machine.
//
//	player ──▶ loss, burst, partition, trace ──▶ dup ──▶ corrupt ──▶ reorder, jitter, delay ──▶ player
//	  └ late start, clock drift up to 5 %, stopped process, input delay that changes
//
// After some seconds the faults end. Then all players must have settled the same frames, and these must be what the game
// gives when it is played from the words each player gave for itself, without any network. What is promised:
//
//	agree      settled states and confirmed hashes are those of the undisturbed game; no desync is reported
//	inputs     every word given is used once, in its order: none lost, none repeated
//	window     a tick advances exactly when the prediction window has room
//	due        after a tick no frame stands that ran with a refuted word
//	progress   all frames are settled in time once the faults have ended
//	recovery   three seconds after their end nobody stalls or is frozen any more, where the window covers the round trip
//	bounded    no packet is longer than a datagram may be, no more memory is live after the last match than after the first
//
// A match that breaks one is reduced: faults are left out and frames cut off as long as it still fails, and the command
// that repeats it is printed. The exit code is then 1. -planted plants bugs, see planted.go.
package main
