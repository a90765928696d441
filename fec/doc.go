// Package fec rebuilds lost packets from redundancy, in two forms, and decides
// how much of it to send.
//
// # Groups on the packet stream
//
// [Encoder] and [Decoder] protect a stream of small packets of different length.
// A group closes after k packets or k ticks, whichever comes first; then its
// parity is sent, in one to four packets of their own. The first parity is the
// XOR of the group, so one parity packet is plain XOR; more make a Reed–Solomon
// code that rebuilds as many packets as parity arrived.
//
//	data packet      group id, index i < size, size planned for the group
//	parity packet    group id, index size+row, the group's real size, and:
//
//	  0      1            3                          3+longest
//	  +------+------------+------------------------------+
//	  | rows | length sum |         packet sum           |
//	  +------+------------+------------------------------+
//
//	row r of the sum:  Σ c[r][i] · (length of packet i, 2 bytes little-endian,
//	                               packet i, zeros up to the longest)
//
// in GF(2⁸) modulo x⁸+x⁴+x³+x²+1, with c[r][i] = (12 ⊕ i) / ((12+r) ⊕ i): the
// Cauchy matrix of a code with 12 data and 4 parity symbols whose columns are
// scaled so that row 0 is all ones. The length is part of the sum, so a rebuilt
// packet has its exact length, and the zeros after it are checked.
//
//	a group at the receiver
//
//	empty --data/parity--> open --all data-------------> complete (parity wasted)
//	  ^                     | \--missing ≤ parity------> rebuilt
//	  |                     | \--contradiction---------> refused
//	  +--- 16 newer groups -+ (what is missing is unrecoverable)
//
// # Blocks for bulk
//
// [BlobEncoder] and [BlobDecoder] carry a blob of any length, cut into shards of
// at most 1152 bytes and blocks of at most 64 shards, each block with its own
// Reed–Solomon parity (Cauchy, from klauspost/reedsolomon). Parity rows do not
// depend on how many there are, so more can be made on demand at any time. Any k
// shards of a block rebuild it.
//
//	0      2        6      7       9   10  11      12
//	+------+--------+------+-------+---+---+-------+--------------------+
//	| blob | length | size | block | k | m | index | shard, 64·size bytes |
//	+------+--------+------+-------+---+---+-------+--------------------+
//
// All integers are little-endian; length is the blob's, in bytes; size is the
// shard's, in units of 64 bytes; index < k is data, otherwise parity row index-k.
//
// # Conventions
//
// Nothing here reads a clock, starts a goroutine or uses floating point. No type
// is safe for concurrent use: one goroutine owns it. Parameters from the network
// are validated, counted when impossible, and never decide how much is allocated.
// What other people's packets do is never an error of the program.
package fec
