// Package peer is the program a player runs, as a library: it meets the
// opponent by a lobby code, opens an encrypted link over the best path there
// is, plays the match and reports it.
//
//	code -> lobby -> keys -> paths -> DTLS link -> set-up -> match loop -> report
//	        natpunch/lobby   natpunch  peer/link    peer/setup  peer/match  peer/report
//
// Run does all of it for one match, or for as many as both want. RunPage does
// the same for a player who sits at the page (package page), with a forecast
// before both accept, a choice of fighters and rematches on one link:
//
//	code -> lobby -> keys -> link over the relay -> lounge: forecast -> both accept -> direct path
//	     -> lounge: select -> set-up -> match loop -> lounge: result ──> set-up … or leave
//
// Both return an error whose ExitCode method is the exit code of the contract
// and whose text is one sentence that says what happened and what to do.
package peer
