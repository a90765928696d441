// Package stunguard decides which STUN datagrams may be looked at further.
//
// A UDP socket that finds paths is open to the whole Internet, and the STUN
// parser behind it was not written for that: pion/stun/v2 panics on a short
// XOR-MAPPED-ADDRESS and has no fix within its major version. So every
// datagram that claims to be STUN is checked here first, over its whole
// attribute list, and dropped unless all of it is well formed.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|0 0|  Binding, any class       |  datagram length - 20         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    magic cookie 21 12 A4 42                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    transaction id, 96 bits                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  attribute type               |  value length                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  value, padded to four bytes; at most 16 attributes       ... |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// Check is for datagrams on their way to ICE, CheckAnswer for answers to the
// STUN client of this package, which asks a relay for our server-reflexive
// address. Neither allocates, and neither trusts anything: what passes is
// well formed, not authentic. Integrity, the transaction and the source
// address are verified by the caller with the accessors below.
//
// Formats: RFC 8489 (STUN), RFC 8445 (ICE), RFC 5780 (NAT discovery).
package stunguard
