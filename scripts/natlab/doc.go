// Package natlab plays matches of the real programs between real NATs: Linux routers in network namespaces, made by natlab.sh.
//
//	    10.1.0.2                                     10.2.0.2
//	peer host ── router a ── the internet ── router b ── peer join
//	                            │    └── wiretap records, audit judges
//	                          relay
//
// A Lab is one such network; several stand side by side under their own prefixes. Play runs one match in it and returns exit
// codes and reports of both sides. It needs Linux, root, iproute2 and nftables. The tests of this package run where
// BACKSTEP_NETNS=1 says that there are all of them; command matrix prints what every pair of NATs makes of a match.
package natlab
