// Package natpunch turns one UDP socket and what the lobby agreed on into a
// path to the opponent that stays up: through the relay at once, directly as
// soon as ICE has found a way, and back through the relay when that way dies.
//
//	                one UDP socket
//	                      |
//	first byte:  0-3 STUN   20-63 DTLS   F0-FF relay frames
//	                |            |            |
//	    stunguard, then:         |     registration, DATA
//	    our STUN client,         |            |
//	    ICE agent           direct route   relay route
//	                |            |            |
//	                +-> verified +---- Paths -+
//	                    addresses        |
//	                                DTLS (package peer/link)
//
// Paths is a net.PacketConn with one constant peer address, so DTLS above it
// never learns that a route changed. Which route a packet takes is decided by
// a small state machine that believes only what DTLS decrypted:
//
//	           3 authenticated arrivals on direct and an answered ICE check
//	  +-------------------------------------------------------------------+
//	  |                                                                   v
//	[relay]                                                           [direct]
//	  ^                                                                   |
//	  +-------------------------------------------------------------------+
//	     direct silent for max(80 ms, 4 intervals + jitter): send on both;
//	     3 authenticated arrivals on the relay while it stays silent: switch
//
// Anything a stranger can forge, which is every raw datagram, can at most make
// us send on both routes a little earlier.
package natpunch
