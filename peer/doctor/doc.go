// Package doctor looks at the network of this machine before a match does, and
// says for each thing it finds what it means for a match and what to do about it.
//
//	probes, side by side                 checks, in this order, each as soon as its facts are there
//
//	route ──────────┬─────────────────>  network, link
//	relay: name, TCP, date ───────────>  relay, udp
//	   └─> STUN of each family ───────>  nat_ipv4, nat_ipv6, external
//	   └─> hops towards it ──┐
//	router: PCP, NAT-PMP, UPnP ───────>  port_mapping, double_nat
//	                                     clock
//
// A probe is a function that touches the world and fills in a part of the Facts;
// a check is a function from Facts to one Finding and touches nothing. What could
// not be looked at, for want of a relay for example, is a finding too: it says so.
// Texts hold no addresses but the relay's name as it was given; those of this
// machine are in Finding.Addresses, which is empty unless Config.ShowAddresses is set.
//
// Run streams: its callback gets every finding when it is made, in the order
// above, on the goroutine that called Run. A page shows them as they come and
// needs nothing else; WriteText is how the command prints one.
package doctor
