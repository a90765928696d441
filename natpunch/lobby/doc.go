// Package lobby takes two players from a typed code to a shared key: the client
// side of the lobby, over one WebSocket to a relay that neither of them trusts.
//
// The host:
//
//	dial ──> HOST ──> CODE ──> waiting ──RUN──> SHARE_A ──SHARE_B──> Tb right? ──yes──> CONF_A, TAKEN
//	  ^                 ^         │                                     │no                  │
//	  │ dropped:        │         │ 15 minutes over, or                 v                 SESSION
//	  │ resume token    └─────────┴─ three failed guesses <── FAIL, count one              HELLO <──> HELLO
//	  └───────────────────────────┘                                                          │
//	                                                                                      Session
//
// The joiner:
//
//	dial ──> JOIN ──> SHARE_A ──> SHARE_B (one for each typed code) ──> CONF_A ──> Ta right? ──> SESSION, HELLO ──> Session
//	  │        │ run ended, host away: again                              │ FAIL
//	  └ next relay of the code                                           wrong code
//
// The host counts failed guesses in its own memory, for each code, whatever the
// relay says and however often the connection drops. A run that stops before
// SHARE_B has taught a guesser nothing and is not counted. After the third
// failed guess both halves of the code are replaced, and the new secret half is
// two symbols longer (up to eight), so that replacing codes does not hand out
// guesses at an even rate.
//
// A Session carries the sealed messages that follow. Every failure is one of the
// Err variables below, wrapped with what is known about it; each says what
// happened and what to do, and knows the exit code it stands for.
//
// Goroutines: a connection has two, a reader and a pinger; Host and Join end
// theirs before they return an error, Session.Close ends those of a session.
package lobby
