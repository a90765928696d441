// Package accord changes the terms of a running match, its mode and its prediction window, on all sides at one frame.
//
// Player 0 is the host of an accord, the others are its guests. One change is dealt with at a time. Anybody may ask for
// one, the host leads it through:
//
//	            ask                    all say yes              all are ready
//	idle ─────────────────▶ poll ─────────────────▶ propose F ─────────────────▶ commit ──▶ idle, once all run on it
//	                         │ a no, or 20 s          │  ▲ │ the host reaches F, or somebody is beyond it:
//	                         ▼                        │  └─┘ a later F
//	                       abort ◀────────────────────┘ six times
//
// A guest that is ready for F does not step frame F before it knows what became of it; the host never waits, it names a
// later F instead. So no side can have run a frame under terms the others do not, and nobody waits longer than it takes
// a message to get through.
//
// There are two messages, and each is all its sender has to say, so that loss, repetition and reordering of messages
// change nothing. One is repeated until the other side says that it heard that revision. Little-endian:
//
//	host   'H' | revision u16 | heard u16 | flags u8 | offer u8 | limit u8 | serial u16 | stage u8 | attempt u8 |
//	       asker u8 | ask u8 | reason u8 | mode u8 | window u8 | frame i32                                       21 bytes
//	guest  'G' | revision u16 | heard u16 | flags u8 | offer u8 | limit u8 | serial u16 | vote u8 | attempt u8 |
//	       ask u8 | mode u8 | window u8 | newest i32                                                            19 bytes
//
//	flags   bit 0: an answer is wanted, since heard does not show that the newest revision has arrived
//	offer   where the sender's own offer of delay mode stands (quality.Offer), so that a ranked match is suspended
//	        only if both sides' figures report the pressure
//	limit   the deepest window the sender's simulation affords
//	serial  number of the change, attempt that of its frame, ask that of a guest's wish; all wrap
//
// Who carries them must authenticate them and may lose them.
package accord
