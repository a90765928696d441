// Package wire is the one packet two peers exchange, field by field, in its two legal forms. docs/wire.md describes both for
// other implementations, docs/vectors holds them byte by byte.
//
// The full form says everything and checks itself. It carries the hello, records, and the packets of embedders whose pipe
// authenticates nothing:
//
//	 0  4  magic "V2RB"                      30  4  frame of the hash
//	 4  1  version                            34  4  hash
//	 5  4  CRC-32C of byte 4 and of           38  4  newest confirmed frame
//	       everything from byte 9 on          42  2  raw loss
//	 9  2  sequence                           44  1  mean burst
//	11  2  newest sequence received           45  2  FEC group
//	13  4  the 32 before it, a bit each       47  1  FEC index
//	17  2  flags                              48  1  FEC size
//	19  1  count of input words               49  2  length of inputs
//	20  4  frame of the first                 51  2  length of parity
//	24  4  newest simulated frame             53  2  length of message
//	28  2  lag                                55     inputs, parity, message
//
// The compact form is for the running match under DTLS, whose tag stands in for magic and CRC. Its first byte has bit 7 set,
// which no full form has, and says which fields follow:
//
//	+--------+----------+-----+-----+----------+-----+-------+-------+-------+------+---------
//	| prefix | (extend) | seq | ack | (bits)   |(lag)| (FEC) | first | count |(hash)| inputs
//	|   1    |   0, 1   |  2  | 0,2 |  0, 4    | 0,2 | 0, 3  |   1   |   1   | 0,5  |  rest
//	+--------+----------+-----+-----+----------+-----+-------+-------+-------+------+---------
//
// Both decode to the same Packet. Every packet has exactly one encoding in each form and the parsers refuse all other bytes,
// so AppendX(ParseX(b)) is b, and ParseX(AppendX(p)) is p.
package wire
