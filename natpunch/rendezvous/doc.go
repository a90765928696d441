// Package rendezvous is the message format that natpunch and relay share: the
// lobby code, the lobby messages (WebSocket, TCP), the registration frames
// (UDP, or one a message inside the tunnel) and the rules for text that came
// from a stranger. It holds no sockets, clocks, goroutines or state.
//
// All integers are little-endian. IPv4 addresses are written ::ffff:a.b.c.d.
// Every value has exactly one encoding, and every parser refuses whatever would
// not encode to the bytes it was given. Parsers slice their input: a []byte
// field of a parsed message is valid as long as the input is.
//
// A lobby, in the order in which the messages appear on the wire (H host,
// J joiner, R relay):
//
//	H                           R                           J
//	| 01 HOST    ver, resume    |                           |
//	|-------------------------->|                           |
//	| 02 CODE    lobby, lookup, |                           |
//	|<-- resume, ttl -----------|                           |
//	|                           |   03 JOIN  ver,lookup,nJ  |
//	|                           |<--------------------------|
//	| 04 RUN     run, nJ        |                           |
//	|<--------------------------|                           |
//	| 05 SHARE_A run, lobby, nH, Ya, ADa                    |
//	|------------------------------------------------------>|
//	| 06 SHARE_B                   run, Yb, ADb, Tb         |
//	|<------------------------------------------------------|   Tb wrong: 0E FAIL
//	| 07 CONF_A  run, Ta                                    |
//	|------------------------------------------------------>|
//	| 08 TAKEN   run            |                           |
//	|-------------------------->|                           |
//	| 09 SESSION                |                09 SESSION |
//	|<--------------------------|-------------------------->|
//	| 0A SEALED  run, ctr, box                              |
//	|<----------------------------------------------------->|
//
// A registration, over UDP (C either player):
//
//	C                                 R
//	| F0 REG  counter 1, no cookie    |
//	|-------------------------------->|  tag right, address unproven: stores nothing
//	| F1 CHAL counter 1, cookie       |
//	|<--------------------------------|
//	| F0 REG  counter 2, cookie       |
//	|-------------------------------->|  binds the address to (channel, side)
//	| F2 ACK  counter 2, your address |
//	|<--------------------------------|
//	| F8 DATA channel, 1..1400 bytes  |
//	|<------------------------------->|  forwarded unchanged to the other side
//
// The layouts stand beside the types.
package rendezvous
