// Package portmap asks the home router for an outside port of our UDP socket, so
// that an opponent behind any NAT gets in. Three protocols do that, and a router
// speaks some of them or none:
//
//	PCP (RFC 6887)      ours: pcp.go
//	NAT-PMP (RFC 6886)  github.com/jackpal/go-nat-pmp, same port 5351 of the router
//	UPnP IGD            github.com/huin/goupnp: a search by multicast, then XML over HTTP
//
//	        +-- PCP --"version"--> NAT-PMP --+
//	start --+                                +--> the first answer is the mapping
//	        +-- UPnP ------------------------+    renewed at half its life,
//	                                              deleted when the context ends
//
// The request for a PCP mapping, and the answer with R set:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+-+-------------+---------------+---------------+
//	|  version 2    |R|  opcode 1   |  reserved     |  result (R)   |
//	+---------------+-+-------------+---------------+---------------+
//	|  lifetime in seconds, 0 deletes                               |
//	+---------------------------------------------------------------+
//	|  request: our address, 16 bytes                               |
//	|  answer: epoch, 4 bytes; reserved, 12 bytes                   |
//	+---------------------------------------------------------------+
//	|  nonce, 12 bytes: the same for as long as the mapping lives   |
//	+---------------+-----------------------------------------------+
//	|  protocol 17  |  reserved                                     |
//	+---------------+---------------+-------------------------------+
//	|  internal port                |  external port                |
//	+-------------------------------+-------------------------------+
//	|  external address, 16 bytes                                   |
//	+---------------------------------------------------------------+
//
// Only the default router is asked, and only what it says is believed: another
// machine of the network that answers the multicast search is passed over, and
// so is a router that sends us to another address. IPv6 is not translated at
// home, so nothing is asked there.
package portmap
