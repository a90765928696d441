// Package natclass finds out how the NAT in front of this machine behaves, by
// asking a relay's STUN ports what they see (RFC 5780). It decides nothing and
// opens nothing: a Discovery is a state machine over a clock, and Run drives
// one over a socket that the caller gives it.
//
//	our socket                     relay
//	    |  1  request ------------> PORT       which address is seen?
//	    |     answer <------------- PORT
//	    |  2  change both --------> PORT       may an address answer that
//	    |     answer <------- second address   was never asked?
//	    |  3  change port --------> PORT       may a port?
//	    |     answer <------------- PORT+1
//	    |  4  request ------------> PORT+1     is another address seen
//	    |     answer <------------- PORT+1     from there?
//	    |  5  request ------------> second address, likewise
//	    |  6  change both --------> PORT       step 2 again
//
// Steps 2, 5 and 6 need a second relay address. The order matters: whoever was
// sent to is let in whatever the NAT filters by, so a step that asks whether a
// stranger is comes before the one that makes him none. Silence means a filter
// only if the relay is known to have answered: PORT+1 by step 4, the second
// address by step 6; otherwise less is claimed.
//
//	step 1 = step 4 = step 5   mapping endpoint-independent
//	step 1 = step 4, no 5      the same as far as one relay address can tell
//	step 1 = step 4 != step 5  address-dependent
//	step 1 != step 4           address- and port-dependent, "symmetric"
//
//	step 2 answered            filtering endpoint-independent, that is none
//	not 2, but 3 and 6         address-dependent
//	3, and nothing of 2 and 6  one of these two: the relay has one address
//	not 3, but 4               address- and port-dependent
//
// To a machine behind a NAT of the first three kinds a peer whose address it has
// sent to gets in from any port, which is what counts for a direct path.
package natclass
