// Package ackbits acknowledges an unreliable packet stream: sequence
// arithmetic, the receiver's window, the sender's record of what was
// delivered and what was lost, and the estimators that feed on it (round-trip
// time, jitter, loss, loss bursts), each kept apart from the others.
//
// Every packet carries the newest sequence number its sender has received and
// one bit for each of the 32 before it, so one packet acknowledges up to 33
// and every acknowledgement is repeated 32 times:
//
//	ack            16 bits   newest sequence received
//	bits           32 bits   bit i set: ack - 1 - i was received
//
//	bit   31   30   ...    2       1       0
//	    +----+----+-----+-------+-------+-------+-----+
//	    |-32 |-31 | ... | ack-3 | ack-2 | ack-1 | ack |
//	    +----+----+-----+-------+-------+-------+-----+
//	    older                                  newest
//
// The life of a packet as its sender sees it:
//
//	          acked                                 acked all the same
//	in flight ------> delivered              lost ---------------------> late
//	    |                                      ^
//	    +-- three later packets were acked ----+
//	    +-- left the 33, last reported missing +
//	    |
//	    +-- left the 33, never reported ------> unreported (fate unknown)
//
// Time is an int64 of microseconds from any monotonic origin, handed in by the
// caller. All arithmetic is on integers; fractions are [Ratio] (30 fractional
// bits), so two builds on two machines decide the same. Nothing here allocates,
// starts goroutines or reads a clock. No type is safe for concurrent use: one
// goroutine owns it.
package ackbits
