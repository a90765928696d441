// Package relay is the meeting point of two players: it hands out lobby codes, passes their key agreement and sealed
// messages on without being able to read them, answers STUN, and forwards their datagrams when no direct path exists.
// It is a library; cmd/relay runs it as a program and cmd/peer embeds it.
//
// One port number serves everything, UDP and TCP alike:
//
//	TCP PORT   HTTP: a WebSocket at /lobby, one message of natpunch/rendezvous per binary message,
//	           and one at /tunnel, one of the frames below per binary message (see tunnel.go)
//	UDP PORT   first byte 0-3    STUN binding request, answered only if at least as long as the answer
//	           first byte F0     registration, 80 bytes, answered by F1 (challenge) or F2 (acknowledged)
//	           first byte F8     data:  F8 | channel u32 | 1..1400 bytes, forwarded unchanged
//	           anything else     dropped and counted
//	UDP PORT+1 STUN only, so that a client can see how its NAT maps a second destination
//
// Where the system can (Linux), a UDP port has several sockets and each socket a worker that moves batches:
//
//	        ┌ socket ─ recvmmsg ─ decide, decide, … ─ sendmmsg ┐
//	PORT ───┤                       │                          ├─── PORT
//	        └ socket ─ recvmmsg ─ decide, decide, … ─ sendmmsg ┘
//	                                │
//	                  table of sessions, 64 locks; source tables; tunnels' queues
//
// A lobby, as the relay sees it (host left, joiner right):
//
//	host                     relay                     joiner
//	  | HOST ------------------>|                         |
//	  |<------------------ CODE |                         |   waiting, at most 15 minutes
//	  |                         |<------------------ JOIN |
//	  |<------------------- RUN |                         |   at most four runs, ten seconds each
//	  | SHARE_A ----------------|------------------------>|
//	  |<------------------------|---------------- SHARE_B |
//	  | CONF_A -----------------|------------------------>|   or FAIL: a failed guess, charged to the joiner's source
//	  | TAKEN ----------------->|                         |   the code is used up, other runs end
//	  |<--------------- SESSION | SESSION --------------->|   channel, expiry and a registration key for each side
//	  | SEALED <----------------|----------------> SEALED |   opaque, until either side leaves
//
// A side of a forwarding session:
//
//	            REG, tag right, no cookie          REG, tag, cookie and counter right
//	unknown ------------------------------> CHAL ------------------------------------> bound --+ REG: refreshed
//	   ^        (nothing is stored)                                                      |     |  or moved
//	   |                                                                                 +<----+
//	   +------------------ both sides silent for the idle time, or expired --------------+
//
// The relay never opens a connection and never sends to an address that has not answered a challenge, with two exceptions that
// are no larger than what they answer: the challenge itself and the STUN answer. Limits are fields of [Limits] and on by
// default. State a stranger can cause is constant: rate limits live in tables of fixed size, sessions exist only for holders
// of a key the relay made.
package relay
