// Package keys turns the result of a CPace run into every key of a session, and
// seals what the players tell each other through the lobby.
//
//	ISK, sid ── HKDF-Extract(SHA-512, salt sid) ──> PRK
//	PRK ── HKDF-Expand("backstep 1 " + label) ──┬─ dtls psk        32  pre-shared key
//	                                            ├─ dtls id          8  identity and hint, bs1-hex
//	                                            ├─ seal host       32  what the host seals
//	                                            ├─ seal join       32  what the joiner seals
//	                                            ├─ ice ufrag S G    6  base64, 8 characters
//	                                            └─ ice pwd S G     24  base64, 32 characters
//
// S is host or join, G the decimal generation of the ICE agent. No key serves two
// purposes or two senders, and nothing is derived before both confirmation tags
// were right, because there is no ISK to derive it from.
//
// A sealed message on the wire, the first 13 bytes being its associated data:
//
//	0A | run u32 | ctr u64 | len u16 | ChaCha20-Poly1305(type u8 | len u16, body | zeros)
//
// The plaintext is padded to a multiple of 256 bytes, so a relay sees how many
// messages there were and hardly more. Counters start at 0 and each message must
// be exactly the next.
package keys
