package link

import (
	"net"
	"time"

	"backstep/natpunch"
)

// longAgo as a deadline wakes a blocked read at once.
var longAgo = time.Unix(1, 0)

// Transport is what a Link needs of the path manager: a PacketConn with one
// constant peer address whose read deadline wakes a blocked read, and the
// choice of paths. Times are microseconds of the clock in Config.
type Transport interface {
	net.PacketConn
	// Plan says on which paths the next packet goes; at least one bit is set.
	Plan(now int64) natpunch.Mask
	// Select routes the WriteTo calls that follow; one bit is set.
	Select(natpunch.Mask)
	// Authenticated reports that a packet sent on the path was decrypted.
	Authenticated(path natpunch.Mask, at int64)
}
