package doctor

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"backstep/natpunch/clockskew"
	"backstep/natpunch/gateway"
	"backstep/natpunch/natclass"
)

const noRelay = "No relay is known that could be asked."
const nameRelay = "Name one with --relay HOST, or in the settings of the page, and look again."

func network(f *Facts) Finding {
	d := map[string]any{"ipv4": f.has(true), "ipv6": f.has(false)}
	switch {
	case len(f.Locals) == 0:
		return Finding{ID: "network", Severity: Error, Data: d,
			Summary: "This machine has no address in any network.",
			Meaning: "Only matches on this machine itself are possible.",
			Advice:  "Plug in the cable, or join a Wi-Fi, and look again."}
	case errors.Is(f.RouteErr, gateway.ErrNone) && !f.has(false):
		return Finding{ID: "network", Severity: Warning, Data: d,
			Summary: "This machine is in a network that no route leads out of.",
			Meaning: "Matches within this network are possible, others are not.",
			Advice:  "If this network should reach the internet, restart the router and get a new address from it (DHCP)."}
	}
	families := "IPv4 and IPv6"
	switch {
	case !f.has(false):
		families = "IPv4"
	case !f.has(true):
		families = "IPv6"
	}
	return Finding{ID: "network", Severity: OK, Data: d, Summary: "This machine is in a network with " + families + ".",
		Meaning: "That is what a match needs."}
}

func link(f *Facts) Finding {
	out := Finding{ID: "link", Severity: Unknown, Data: map[string]any{"medium": f.Medium.String()}}
	switch f.Medium {
	case Wired:
		out.Severity, out.Summary, out.Meaning = OK, "Packets leave by a cable.", "A cable delays packets evenly, which is what rollback likes best."
	case WiFi:
		out.Severity, out.Summary = Note, "Packets leave by Wi-Fi."
		out.Meaning = "Wi-Fi delays packets unevenly and in bursts; the opponent sees it as rollbacks, whatever the average ping says."
		out.Advice = "Use a cable for matches that matter; else sit close to the access point and use its 5 GHz band."
	case Tunnel:
		out.Severity, out.Summary = Note, "Packets leave through a VPN."
		out.Meaning = "A VPN adds delay and often a NAT that lets nobody in; the findings below are those of the VPN."
		out.Advice = "Switch it off for the match, unless it is there to hide your address; --path relay does that too."
	default:
		out.Summary, out.Meaning = "Whether packets leave by a cable or by Wi-Fi is not known.", "The match measures how evenly they come."
		out.Advice = "If it is Wi-Fi, try a cable."
	}
	return out
}

func relay(f *Facts) Finding {
	rtt := max(f.Class[0].RTT, f.Class[1].RTT)
	if a, b := f.Class[0].RTT, f.Class[1].RTT; a > 0 && b > 0 {
		rtt = min(a, b)
	}
	how := "STUN"
	if rtt == 0 {
		rtt, how = f.TCP, "TCP"
	}
	d := map[string]any{"tcp": f.TCP > 0, "udp": f.udp()}
	if rtt > 0 {
		d["rtt_ms"], d["rtt_by"] = float64(rtt.Microseconds())/1000, how
	}
	switch {
	case f.Relay == "":
		return Finding{ID: "relay", Severity: Unknown, Summary: noRelay,
			Meaning: "Host and joiner meet at a relay. Without one of your own this machine can be the meeting point for its own network; what the internet sees of it was not checked.",
			Advice:  nameRelay}
	case f.TCP == 0 && f.udp():
		return Finding{ID: "relay", Severity: Error, Data: d,
			Summary: fmt.Sprintf("The relay %s answers on UDP, but its TCP port does not accept connections (%s).", f.Relay, reason(f.RelayErr)),
			Meaning: "The lobby is on TCP: nobody can be met there.",
			Advice:  "If you run the relay, let TCP through to its port; else ask whoever does, or try another network."}
	case f.TCP == 0:
		return Finding{ID: "relay", Severity: Error, Data: d,
			Summary: fmt.Sprintf("The relay %s does not answer (%s).", f.Relay, reason(f.RelayErr)),
			Meaning: "Nobody can be met there.",
			Advice:  "Check the name and the port; ask whoever runs it whether it is up (relay probe tells from outside); try another network, which may block it."}
	}
	out := Finding{ID: "relay", Severity: OK, Data: d,
		Summary: fmt.Sprintf("The relay %s answers in %s.", f.Relay, millis(rtt)),
		Meaning: fmt.Sprintf("Through it a packet takes at least %s to an opponent who is as near to it; a direct path is usually shorter.", millis(rtt))}
	if f.Tried > 1 {
		out.Severity, out.Advice = Note, "A relay named before it did not answer: check its name, or take it out of the settings."
	}
	if rtt > 150*time.Millisecond {
		out.Severity = Warning
		out.Meaning = "That is far: a match through it is heavily delayed. A direct path does not depend on it."
		out.Advice = "Choose a relay that is nearer to both players."
	}
	return out
}

// reason is the shortest true part of an error.
func reason(err error) string {
	if err == nil {
		return "no answer"
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return strings.TrimPrefix(err.Error(), "connect: ")
}

func millis(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
}

func udp(f *Facts) Finding {
	d := map[string]any{"blocked": !f.udp() && f.TCP > 0}
	switch {
	case f.Relay == "":
		return Finding{ID: "udp", Severity: Unknown, Summary: "Whether UDP gets out of this network was not checked.", Meaning: noRelay, Advice: nameRelay}
	case f.udp():
		out := Finding{ID: "udp", Severity: OK, Data: d, Summary: "UDP gets through.", Meaning: "Matches use it; it never waits for what was lost."}
		if n := f.Class[0].Resent + f.Class[1].Resent; n > 1 {
			out.Severity, out.Summary = Note, fmt.Sprintf("UDP gets through, but %d requests had to be sent again.", n)
			out.Meaning = "Packets are lost between here and the relay. A match puts up with one in ten."
			out.Advice = "Look for what else uses the line; on Wi-Fi try a cable."
		}
		return out
	case f.TCP > 0:
		return Finding{ID: "udp", Severity: Warning, Data: d,
			Summary: "UDP is blocked: the relay answers on TCP and not on UDP.",
			Meaning: "Matches go through the relay over TCP, never directly; a lost packet delays those behind it.",
			Advice:  "Allow outgoing UDP in the firewall of this machine and of the router; networks of schools, offices and hotels often block it, then use another one."}
	}
	return Finding{ID: "udp", Severity: Unknown, Data: d, Summary: "Whether UDP gets out of this network is not known.", Meaning: "The relay answers neither on UDP nor on TCP.", Advice: "See to the relay first."}
}

func external(f *Facts) Finding {
	out := Finding{ID: "external", Severity: Unknown, Summary: "The address the internet sees of this machine is not known.", Meaning: "A relay would tell it."}
	seen := map[netip.Addr]bool{}
	for _, c := range f.Class {
		for _, a := range c.Seen {
			if !seen[a.Addr()] {
				seen[a.Addr()] = true
				out.Addresses = append(out.Addresses, a.Addr())
			}
		}
	}
	if len(out.Addresses) == 0 {
		out.Advice = nameRelay
		if f.Relay != "" {
			out.Advice = "See to the relay and to UDP first."
		}
		return out
	}
	out.Severity = OK
	out.Summary = fmt.Sprintf("The relay sees this machine at %s.", plural(len(out.Addresses), "one address", "addresses"))
	out.Meaning = "Opponents on a direct path see it too; --path relay hides it from them."
	out.Data = map[string]any{"count": len(out.Addresses)}
	four := 0
	for _, a := range out.Addresses {
		if a.Is4() {
			four++
		}
	}
	if four > 1 {
		out.Severity = Warning
		out.Summary = fmt.Sprintf("The relay sees this machine at %d different IPv4 addresses.", four)
		out.Meaning = "The network sends packets out by several lines, so an opponent cannot know where to send to."
		out.Advice = "If the router balances over two lines, tie this machine to one of them."
	}
	return out
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func clock(f *Facts) Finding {
	switch {
	case !f.Dated && f.Relay == "":
		return Finding{ID: "clock", Severity: Unknown, Summary: "Whether the clock of this machine is right was not checked.", Meaning: noRelay, Advice: nameRelay}
	case !f.Dated:
		return Finding{ID: "clock", Severity: Unknown, Summary: "Whether the clock of this machine is right was not checked.", Meaning: "The relay did not tell the time.", Advice: "See to the relay first."}
	}
	d := map[string]any{"ahead_s": f.Ahead.Round(time.Second).Seconds()}
	if f.Ahead.Abs() < clockskew.Worth {
		return Finding{ID: "clock", Severity: OK, Data: d, Summary: "The clock of this machine is right.", Meaning: "Matches do not depend on it; certificates and the dates of replays do."}
	}
	out := Finding{ID: "clock", Severity: Note, Data: d,
		Summary: fmt.Sprintf("The clock of this machine is %s the relay's.", clockskew.Sentence(f.Ahead)),
		Meaning: "Matches do not depend on it; the dates of replays and reports are wrong by as much.",
		Advice:  "Let the system set its clock by the network; if it does, the relay's clock may be the wrong one."}
	if f.Ahead.Abs() >= clockskew.Wrong {
		out.Severity = Warning
		out.Meaning = "Matches do not depend on it, but certificates of relays may seem expired or not yet valid, and the dates of replays and reports are wrong."
	}
	return out
}

// symmetric says why a mapping that depends on the destination matters.
const symmetric = "An opponent cannot know the port before you have sent to them: direct paths come about only with opponents who are easily reached, the rest goes through the relay."

func nat4(f *Facts) Finding { return nat(f, 0, "nat_ipv4", "IPv4") }
func nat6(f *Facts) Finding { return nat(f, 1, "nat_ipv6", "IPv6") }

func nat(f *Facts, family int, id, name string) Finding {
	c := &f.Class[family]
	out := Finding{ID: id, Data: map[string]any{
		"mapping": c.Mapping.String(), "filtering": c.Filtering.String(), "second_address": c.SecondAddress, "keeps_port": c.KeepsPort,
	}}
	unknown := func(summary, meaning, advice string) Finding {
		out.Severity, out.Summary, out.Meaning, out.Advice = Unknown, summary, meaning, advice
		return out
	}
	what := "What kind of NAT there is for " + name + " was not checked."
	switch {
	case !f.has(family == 0) && family == 1:
		out.Severity, out.Summary = Note, "This machine has no IPv6 address of the internet."
		out.Meaning = "Matches use IPv4. Two players with IPv6 would need no NAT between them."
		return out
	case !f.has(family == 0):
		out.Severity, out.Summary = Note, "This machine has no "+name+" address."
		out.Meaning = "Opponents who have only " + name + " are reached through the relay."
		return out
	case f.Relay == "":
		return unknown(what, noRelay, nameRelay)
	case !f.RelayAddr[family].IsValid():
		return unknown(what, "The relay has no "+name+" address.", "")
	case !c.Answered && f.TCP > 0:
		return unknown(what, "The relay does not answer on UDP over "+name+".", "See to UDP first.")
	case !c.Answered:
		return unknown(what, "The relay does not answer.", "See to the relay first.")
	}
	if f.near(family) && c.Mapping == natclass.NoMapping {
		return unknown(what, "The relay is in this machine's own network and does not see what the internet sees.",
			"Name a relay on the internet with --relay HOST.")
	}
	filter := map[natclass.Filtering]string{
		natclass.OpenFiltering:    " It lets in any port of an address you have sent to, perhaps everybody.",
		natclass.NoFiltering:      " It lets everybody in.",
		natclass.AddressFiltering: " It lets in any port of an address you have sent to.",
		natclass.PortFiltering:    " It lets in only address and port you have sent to.",
	}[c.Filtering]
	switch c.Mapping {
	case natclass.NoMapping:
		out.Severity, out.Summary = OK, "There is no NAT for "+name+"."
		out.Meaning = "Direct paths to everybody are possible."
		if c.Filtering == natclass.PortFiltering {
			out.Summary += " A firewall lets in only whom you have sent to."
			out.Meaning = "Direct paths are possible to all but opponents behind a symmetric NAT."
		}
	case natclass.IndependentMapping:
		far := ""
		if !c.SecondAddress {
			far = ", as far as one relay address can tell"
			out.Data["precision"] = "one relay address"
		}
		out.Severity, out.Summary = OK, "The NAT gives this machine one outside port for all opponents (a cone NAT)"+far+"."+filter
		out.Meaning = "Direct paths to everybody are possible."
		if !c.Filtering.Open() {
			out.Meaning = "Direct paths are possible to all but opponents behind a symmetric NAT."
		}
	case natclass.UnknownMapping:
		return unknown("The kind of NAT for "+name+" is unknown: the relay answers on one port only.",
			"Direct paths are tried all the same.", "If you run the relay, let UDP through to the port above its own too.")
	default:
		out.Severity, out.Summary = Warning, "The NAT gives every opponent another outside port (a symmetric NAT)."+filter
		out.Meaning = symmetric
		out.Advice = "Switch on UPnP or NAT-PMP in the router, or look there for a NAT type other than strict; leave a VPN; a phone's hotspot is always like this."
		if by := f.routerMaps(); family == 0 && len(by) > 0 {
			out.Severity = Note
			out.Meaning = "The router maps a port for matches (" + strings.Join(by, ", ") + "), so direct paths are possible all the same."
			out.Advice = ""
		}
	}
	return out
}
