// Package page serves the player's page on this machine and is its only way
// in: one HTTP listener on a loopback address, one WebSocket.
//
//	match loop ──Snapshot──> newest only ─┐
//	flow ───────Show, Net──> newest only ─┼─> writer of the tab ──> browser
//	flow <──Commands── bounded queue <────┤
//	match loop <──Words── two atomics <───┴── reader of the tab <── browser
//
// Nothing here ever waits for the browser: what it does not fetch in time is
// replaced by something newer, so a slow, hidden or crashed tab costs the match
// loop nothing. The protocol is in docs/page.md.
//
//	connection: accepted ──HELLO, token──> player │ viewer ──close, taken over──> ended
//	               └──5 s, wrong token, open elsewhere──────────────────────────────^
package page
