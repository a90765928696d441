//go:build !linux || !(amd64 || arm64)

package relay

import "net/netip"

// canShare says that several sockets can be bound to one port, with the system spreading senders over them.
const canShare = false

// canPick says that a socket can answer from any address of this machine.
const canPick = false

// openUDP binds the fastest batchConn of this platform.
func openUDP(a netip.AddrPort, _ bool) (batchConn, error) { return openPlain(a) }
