package relay

import "net"

// newBatchConn returns the fastest batchConn of this platform.
func newBatchConn(c *net.UDPConn) batchConn { return plainConn{c} }
