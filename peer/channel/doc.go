// Package channel carries everything the players say to each other beside
// inputs: match state, chat, telemetry, what a viewer gets, and lobby matters.
// A channel has no packets of its own. What it has to say rides in the section
// of input packets that nobody else uses, in the room that is left behind the
// inputs and within a byte budget, so that nothing ever delays an input.
//
//	Send ──▶ outbox of the channel ──Fill──▶ section of a packet ──▶
//	 ErrFull   in order, capped rate            │ tag
//	             ▲                              ▼
//	             │ again                     flights: what each section carried
//	             └──── Lost, or a timer ────────┤
//	                   gone ◀──── Delivered ────┘
//
//	──▶ section ──Check──▶ Receive ──▶ inbox of the channel ──Next──▶ message
//	              refused    each fragment once, messages in order
//
// A section is one to 16 items, one behind the other:
//
//	0        1        3            (4)          (5)
//	+--------+--------+------------+------------+-----------------+
//	|  head  | number | (fragment) | (length-1) | 1 to 256 bytes  |
//	|   1    |   2    |    0, 1    |    0, 1    |                 |
//	+--------+--------+------------+------------+-----------------+
//	head      bits 0–2 channel; bit 3 fragment; bit 4 length, another
//	          item follows; bits 5–7 zero
//	number    of the message in its channel, from 0 on, little-endian
//	fragment  bits 0–3 index; bits 4–7 count-1; only of messages of more
//	          than 256 bytes; all fragments but the last have 256 bytes
//
// The last item reaches to the end of the section. Every list of items has one
// encoding and [ParseSection] refuses everything else.
//
// Reliable messages stay in the outbox until a packet with each of their
// fragments is acknowledged. A fragment is sent again when its packet counts as
// lost or when its acknowledgement is overdue, by the round trip that the
// acknowledgements themselves measure. Unreliable messages are sent once; when
// more are waiting than the outbox holds, the oldest goes.
//
// Where no input packets flow, before frame 0 and after the last, [Control]
// carries the same [Mux] in packets of its own.
//
// Nothing here reads a clock or starts a goroutine; times are µs of one
// monotonic clock. After [New] nothing allocates, and no message of the other
// side makes anything grow. One goroutine owns a Mux and its Control.
package channel
