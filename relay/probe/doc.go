// Package probe answers an operator's first question, "can players use my relay?", from where it runs. It does what two players
// do, with itself as both, and says in a sentence for each step what it found and what to do about it:
//
//	lookup ── tcp ── tls ── clock ── lobby ── endpoints ── stun ── stun_next ── register ── forward ── tunnel
//	                          │                                          │
//	                          │ HOST, JOIN, RUN, SHARE_A, SHARE_B,       │ forged: silence; right: CHAL, ACK
//	                          └ CONF_A, TAKEN, SESSION                   └ with the keys of SESSION
//
// A step that cannot be tried, because one before it failed, says so. Nothing is left behind: the lobby ends with the connection,
// the channel a few minutes later.
package probe
