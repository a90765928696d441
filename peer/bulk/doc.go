// Package bulk moves one blob from one player to the other beside a running
// match: a snapshot for a resync or a late joiner, or a replay. It sends
// datagrams of its own, so that a large thing never waits behind small ones nor
// they behind it, and it is paced, so that inputs keep their place on the path.
//
//	Sender                                            Receiver
//	  | blob and its SHA-256, in blocks of RS shards      |
//	  | SHARD SHARD SHARD …  data, then parity  ------->  |  any k of a block
//	  |  <-----------------  REPORT: acks, needs          |  every 8 shards or 10 ms
//	  | SHARD …  new parity, for what is short  ------->  |
//	  |  <-----------------  REPORT: complete             |  SHA-256 agrees
//
//	SHARD   kind 6 | seq u16 | shard, see package fec
//	REPORT  kind 7 | state u8 | ack u16 | bits u32 | delay u16 | state 0: needs, see package fec
//	                                                           | else: blob u16
//	state 0 open, 1 complete, 2 refused; delay in 16 µs, from the arrival of
//	packet ack to this report
//
// The first round has as much parity as makes it fail once in a hundred times at
// the loss that was measured. What a report finds missing is made up by parity
// that was not sent before, as soon as what is still on its way cannot be
// enough, so no shard is ever sent twice while there is parity left to make.
//
//	a transfer at its sender
//
//	sending --report: complete--------------------------> done
//	  |  ^ \--report: refused, greedy reports-----------> failed
//	  |  | report
//	  v  |
//	silent: one shard a timeout, or half a second --10 s---> failed
//
// Rate, burst and bytes in flight are bounded. When the round trip says that
// shards wait in a queue, where inputs would wait with them, rate and bytes in
// flight are halved, at most once a round trip, and come back slowly; when loss
// rises with it, redundancy is halved too, because more of it would be lost.
//
// Nothing here reads a clock or starts a goroutine; times are µs of one
// monotonic clock. One goroutine owns a Sender or a Receiver. Memory is bounded
// by the blob at the sender and by the limit and by what arrived at the receiver.
package bulk

import "errors"

// Errors of transfers.
var (
	// ErrConfig: settings out of range.
	ErrConfig = errors.New("bulk: settings out of range")
	// ErrMessage: bytes that are no message of this package, or impossible ones.
	ErrMessage = errors.New("bulk: malformed message")
	// ErrOther: a message about another blob.
	ErrOther = errors.New("bulk: message about another blob")
	// ErrSilent: nothing was heard for too long.
	ErrSilent = errors.New("bulk: the other side fell silent")
	// ErrRefused: the other side did not want the blob, or found it damaged.
	ErrRefused = errors.New("bulk: the other side refused the blob")
	// ErrGreedy: the other side asked for more than any loss explains.
	ErrGreedy = errors.New("bulk: the other side asks for too much")
	// ErrTooLong: the blob is longer than this side takes.
	ErrTooLong = errors.New("bulk: the blob is too long")
	// ErrSum: the blob arrived and is not what was sent, or not what was expected.
	ErrSum = errors.New("bulk: the blob's SHA-256 does not match")
)
