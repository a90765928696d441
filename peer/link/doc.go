// Package link is the encrypted channel between the two players: DTLS over a
// path manager, with a record filter below it and a bounded queue above it.
//
//	       match loop (one goroutine)
//	  Send |                ^ Receive
//	       v                |
//	1 link byte        queue, drops the oldest
//	       |                ^
//	       v                | reader goroutine
//	 pion/dtls  ------------+
//	       |                ^
//	       |          record filter   cuts out what no honest peer sends
//	       v                |
//	Transport: relay path, direct path (package natpunch)
//
// The plaintext of one DTLS record is:
//
//	 0               1
//	+---------------+----------------------------+
//	|0 0 0 e e e m m|  one wire packet           |
//	+---------------+----------------------------+
//	eee: the number of the match on this link, modulo 8
//	mm = 01: this copy was sent on the relay path
//	mm = 10: this copy was sent on the direct path
//
// With bit 5 set it is a side message instead, a reliable one for what keeps the
// paths; see side.
//
// Exactly one of the two low bits is set. When both paths are in use, each gets a
// copy of its own, encrypted by itself, so an authenticated arrival says
// without doubt which path is alive. That is reported to the Transport, and
// nothing else may keep a path alive or bring it back.
package link

import "errors"

// Sentinels of this package. Everything else a Link meets on the wire is a
// counter in Stats.
var (
	// ErrHandshake: no secure channel within the attempt's time.
	ErrHandshake = errors.New("secure handshake failed")
	// ErrClosed: the link was closed here, or the channel beneath it ended.
	ErrClosed = errors.New("link closed")
)
