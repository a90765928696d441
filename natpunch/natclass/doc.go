// Package natclass finds out how the NAT in front of this machine behaves, by
// asking a relay's STUN ports what they see (RFC 5780). It decides nothing and
// opens nothing: a Discovery is a state machine over a clock, and Run drives
// one over a socket that the caller gives it.
//
//	our socket                     relay
//	    |  1  request ------------> PORT       which address is seen?
//	    |     answer <------------- PORT
//	    |  2  change port --------> PORT       may a port answer that
//	    |     answer <------------- PORT+1     was never asked?
//	    |  3  request ------------> PORT+1     is another address seen
//	    |     answer <------------- PORT+1     from there?
//	    |  4  request ------------> second relay address, where there is one
//
// The order matters: after step 3 the NAT lets PORT+1 in whatever it filters by,
// so step 2 is over, answered or given up, before it begins. That an answer
// from PORT+1 was missing in step 2 means a filter only if step 3 shows that
// PORT+1 answers at all; otherwise the filtering stays unknown.
//
//	step 1 = step 3 = step 4   mapping endpoint-independent
//	step 1 = step 3, no 4      the same as far as one relay address can tell
//	step 1 = step 3 != step 4  address-dependent
//	step 1 != step 3           address- and port-dependent, "symmetric"
//
// One relay address cannot tell filtering by address from none at all: to a
// machine behind either of them, a peer whose address it has sent to gets in
// from any port, which is what counts for a direct path.
package natclass
