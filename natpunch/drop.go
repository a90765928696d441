package natpunch

import "sync/atomic"

// Drop says why a datagram went no further. Every one is counted, none is an
// error: on a socket open to the Internet all of this is ordinary input.
type Drop uint8

// Reasons, in the order in which a datagram can meet them.
const (
	DropEmpty           Drop = iota // no byte at all
	DropOversize                    // longer than any datagram of ours
	DropClass                       // first byte of no protocol of ours
	DropPanic                       // a handler panicked on it
	DropSTUNUnexpected              // STUN while no ICE agent runs
	DropSTUNMalformed               // refused by stunguard
	DropSTUNForged                  // wrong user, integrity, transaction or source
	DropSTUNReplayed                // a known request from another address
	DropSTUNFull                    // too many remote addresses, or agent too slow
	DropDTLSSource                  // from an address without an answered ICE check
	DropDTLSEarly                   // held for a check that was never answered
	DropRelaySource                 // relay frame from elsewhere than the relay
	DropRelayMalformed              // relay frame of wrong form
	DropRelayForged                 // registration answer with wrong tag or counter
	DropRelayChannel                // DATA of another channel
	DropRelayPayload                // DATA that carries no DTLS record
	DropQueue                       // receive queue full: the oldest went
	DropTunnelQueue                 // TCP stands still: the oldest outgoing frame went
	DropNoRoute                     // sent while the selected route did not exist
	DropSignalMalformed             // sealed message that did not parse
	DropSignalStale                 // candidates of an older generation
	dropCount
)

var dropNames = [dropCount]string{
	"empty", "oversize", "class", "panic",
	"stun_unexpected", "stun_malformed", "stun_forged", "stun_replayed", "stun_full",
	"dtls_source", "dtls_early",
	"relay_source", "relay_malformed", "relay_forged", "relay_channel", "relay_payload",
	"queue", "tunnel_queue", "no_route", "signal_malformed", "signal_stale",
}

func (d Drop) String() string {
	if d < dropCount {
		return dropNames[d]
	}
	return "unknown"
}

// Drops counts by reason. The zero value is ready; all goroutines may use it.
type Drops struct{ n [dropCount]atomic.Uint64 }

func (d *Drops) add(why Drop) { d.n[why].Add(1) }

// Count returns how many datagrams were dropped for one reason.
func (d *Drops) Count(why Drop) uint64 { return d.n[why].Load() }

// Map returns the reasons that occurred, by name.
func (d *Drops) Map() map[string]uint64 {
	m := make(map[string]uint64)
	for i := range d.n {
		if n := d.n[i].Load(); n > 0 {
			m[dropNames[i]] = n
		}
	}
	return m
}
