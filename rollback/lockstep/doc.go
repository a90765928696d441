// Package lockstep plays a command game, such as one of many units, in turns: at 25 Hz, only commands cross the wire, and
// a frame runs once the commands of every player for it are there. It is for matches that start in lockstep; the delay
// mode of a 60 Hz match is package rollback with a window of none.
//
//	Add ──▶ bundle of frame next+delay, sealed when that is due ──▶ packets, until acknowledged
//	                                                     │
//	clock: 40 ms ──▶ all bundles of next there? ──no──▶ wait; more than 3 s: PauseExceeded
//	                       │ yes
//	     canonical order ──▶ Game.Step ──▶ digest ──▶ checkpoint every 100 frames, snapshot every 25
//	                                        │
//	others' digests ──▶ differ? ── guest ──▶ Recovering: drop all from F-4 on, fetch the host's snapshot, replay
//	                               host  ──▶ the difference is counted, the snapshot is served
//
// A digest folds, in this order: the digest of the frame before, the match-config hash, the low and the high half of the
// seed, the frame, the hash of the game's state after it, the number of commands, and of each command in canonical order
// player, CRC-32 of its name, primary, secondary and target. Two games with one digest have taken the same commands to the
// same state.
//
// Packets, little-endian; uv is a minimal unsigned varint, zz a zigzag one. They need a channel that authenticates, and it
// may lose, repeat and reorder them. A field frame+1 is 0 for "none yet".
//
//	turn     'T' | player u8 | flags u8 | life u8 | known frame+1 u32 × players | done frame+1 u32 | digest u64 of it |
//	         sections u8 | section: player u8, first u32, count u8, count × bundle
//	bundle   uv commands | command: name length u8, name, zz primary, zz secondary, zz target     in canonical order
//	fetch    'F' | player u8 | wanted frame+1 u32 | offset u32                                    to the host
//	chunk    'C' | player u8 | label+1 u32 | length u32 | digest u64 | draws u64, u32 | offset u32 | bytes   to a guest
//
//	flags bit 0: catching up, so bundles of all players are wanted, the sender's own too
//	life: how often the sender began anew in this match; with a higher one its known may fall
//
// Player 0 is the host: the others take over its state if theirs differs. Players from Config.Match.Players on are
// observers: they give no commands and nobody waits for them.
package lockstep
