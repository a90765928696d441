// Package dialog is everything two programs say to each other on one link
// beside inputs: what players chat, whether they are there, how the link looks
// from the other side, what a match has to agree on, and blobs such as
// snapshots and replays. It joins package channel and package bulk and gives
// the messages their form.
//
//	Send, Chat, …──▶ channel.Mux ──┬─ sections of input packets, while a match runs
//	                               └─ control packets, before, between and after
//	Offer ──▶ OFFER ··▶ Offered ─ Accept ──▶ ANSWER ··▶ SHARD … REPORT ──▶ Received, Sent
//	           both on MatchState                        packets of their own, paced
//
//	what arrives ──▶ Receive ──▶ Next ──▶ Event
//
// The first byte of each message says what it is (integers little-endian):
//
//	MatchState    1 OFFER   id u16 | purpose u8 | length u32 | SHA-256 32
//	              2 ANSWER  id u16 | 0 accepted, 1 declined
//	              3 END     id u16               withdrawn by either side
//	              16–255    topics of the match, see [Topic]
//	ChatPresence  1 CHAT    1 to 400 bytes of clean UTF-8, at most 120 runes
//	              2 HERE    0 here, 1 away
//	Telemetry     1 STAMP   rtt u16 in 100 µs | jitter u16 in 100 µs | loss u16 in 1/100 % | stalls u16
//
// A side may send one blob and receive one at a time:
//
//	sender    idle ─Offer─▶ asked ─accepted─▶ sending ─complete─▶ idle, Sent
//	                          └─declined, 30 s──┴─refused, silent, END─▶ idle, Sent with an error
//	receiver  idle ─OFFER─▶ offered ─Accept─▶ receiving ─complete─▶ lingering, Received
//	                          └─Decline─▶ idle   └─END, next OFFER, damaged─▶ Received with an error
//
// A lingering receiver goes on answering late shards until the next offer.
//
// A Dialog lives as long as its link, through matches and between them. It reads
// no clock and starts nothing; one goroutine owns it. It allocates when it is
// made, for a blob, and for a chat line; never for a tick.
package dialog
