#!/usr/bin/env bash
# A laboratory of NATs in network namespaces, for root on Linux with iproute2 and nftables.
#
#   NL=x natlab.sh up                      make the lab, both routers as eim; an older one of that name goes first
#   NL=x natlab.sh down                    end what runs in it and remove all of it; never fails
#   NL=x natlab.sh nat a|b|cg TYPE         eim eim-openinput sym symfull symrange symseq symaddr fullcone addrres udpblock udp443 tcp443 none
#   NL=x natlab.sh cgnat on [TYPE]|off     a second NAT, a carrier's, in front of router a
#   NL=x natlab.sh hairpin a|b on|off      whether a host reaches its neighbours under their outside address
#   NL=x natlab.sh portmap a|b on|off      the router takes orders for ports: miniupnpd with PCP, NAT-PMP and UPnP
#   NL=x natlab.sh cut a|b|cg WHAT         drop forwarded packets: direct (all but the relay's), relay, all, off
#   NL=x natlab.sh rebind a|b|cg           forget all mappings and give out other ports (eim and sym kinds)
#   NL=x natlab.sh ipv6 a|a2|b also|only   IPv6 for that host, without translation behind a firewall that lets answers in; the relay has it too
#   NL=x natlab.sh readdress a|a2|b HOST   the host gets another address in its network, as with another cable or Wi-Fi
#   NL=x natlab.sh unplug a|a2|b on|off    its interface is down
#   NL=x natlab.sh delay a|b|pub|cg DELAY [JITTER [LOSS%]]   each way, between that node and the internet
#   NL=x natlab.sh delay off
#   NL=x natlab.sh show                    the routers' rules
#   NL=x natlab.sh exec NS CMD…            run CMD in namespace NS: pub net ra rb cg a a2 b
#   natlab.sh check                        can a lab be made on this machine? exit 0, or 1 with the reason
#
#        10.1.0.0/24               198.51.100.0/24               10.2.0.0/24
#   a  .2 --+                                               +-- .2 b
#           +-- .1 ra .1 ----------- net ----------- .2 rb .1 --+
#   a2 .3 --+       :            (the internet,       .3 cg
#                   :              a bridge)          :     carrier NAT, 100.64.0.1
#                   :                 |               :
#                   +.................|...............+     used instead of ra's own line after cgnat on
#                             .10, .11 pub: the relay
#
# A prefix (NL, default nl, one to ten of a-z and 0-9) names a lab; several stand side by side.
# A host behind "none" also has a public address: 203.0.113.2 (a) or 192.0.2.2 (b), and no firewall.
set -euo pipefail

P=${NL:-nl}
STATE=${NATLAB_STATE:-/run/natlab}/$P
NODES="pub net ra rb cg a a2 b"
PUB1=198.51.100.10 PUB2=198.51.100.11
RA=198.51.100.1 RB=198.51.100.2 CG=198.51.100.3
OPEN_A=203.0.113 OPEN_B=192.0.2 # networks of hosts without NAT

die() { echo "natlab: $*" >&2; exit 2; }
usage() { sed -n '3,18s/^# \{0,1\}//p' "$0" >&2; exit 2; }
ns() { ip netns exec "$P-$1" "${@:2}"; }
# run "ip" commands in one namespace, one a line on stdin
ips() { ip -n "$P-$1" -batch -; }

[[ $P =~ ^[a-z0-9]{1,10}$ ]] || die "NL=$P: a prefix is one to ten of a-z and 0-9"

# --- topology ---------------------------------------------------------------------------------------------------------

down() {
	local n pids all=''
	for n in $NODES; do
		[ -e "/run/netns/$P-$n" ] || continue
		all+="netns del $P-$n"$'\n'
		pids=$(ip netns pids "$P-$n" 2>/dev/null) || continue
		# shellcheck disable=SC2086 # a list of process ids
		[ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
	done
	[ -z "$all" ] || ip -force -batch - <<<"$all" 2>/dev/null || true
	for n in $NODES; do rm -rf "/etc/netns/$P-$n"; done
	rm -rf "$STATE"
}

# make_lab is up without the cleaning before and after.
make_lab() {
	local n s
	mkdir -p "$STATE"
	# The first "ip netns add" of a machine remounts the folder of all: one at a time.
	exec 9>"${STATE%/*}/.lock"
	flock 9
	for n in $NODES; do echo "netns add $P-$n"; done | ip -batch -
	exec 9>&-
	for n in $NODES; do ip -n "$P-$n" link set lo up; done

	ips net <<<"link add br0 type bridge
link set br0 up"
	for n in pub ra rb cg; do
		ip link add wan0 netns "$P-$n" type veth peer name "p-$n" netns "$P-net"
		ips net <<<"link set p-$n master br0 up"
	done
	for s in a b; do
		ips r$s <<<"link add lan0 type bridge
link set lan0 up"
	done
	for n in a a2 b; do
		s=${n:0:1}
		ip link add eth0 netns "$P-$n" type veth peer name "l-$n" netns "$P-r$s"
		ips r$s <<<"link set l-$n master lan0 up"
	done
	ip link add cwan netns "$P-ra" type veth peer name clan netns "$P-cg"

	ips pub <<<"addr add $PUB1/24 dev wan0
addr add $PUB2/24 dev wan0
link set wan0 up
route add $OPEN_A.0/24 via $RA
route add $OPEN_B.0/24 via $RB"
	ips ra <<<"addr add 10.1.0.1/24 dev lan0
addr add $OPEN_A.1/24 dev lan0
addr add 100.64.0.2/24 dev cwan
link set cwan up"
	ips rb <<<"addr add 10.2.0.1/24 dev lan0
addr add $OPEN_B.1/24 dev lan0"
	ips cg <<<"addr add 100.64.0.1/24 dev clan
link set clan up"
	for n in a b cg; do outside $n; done
	host a 10.1.0.2 10.1.0.1
	host a2 10.1.0.3 10.1.0.1
	host b 10.2.0.2 10.2.0.1
	for n in net ra rb cg; do
		# Not sysctl: a bare Debian has none. Where br_netfilter is loaded, bridges would pass their frames through the routers'
		# rules as well.
		ns $n sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
			for f in /proc/sys/net/bridge/bridge-nf-call-*; do [ ! -e "$f" ] || echo 0 >"$f"; done'
	done
	nat a eim
	nat b eim
}

up() {
	down
	trap down EXIT # not half a lab; set -e ends make_lab at the first thing that fails
	make_lab
	trap - EXIT
}

# host gives a host its address and its way out.
host() {
	ips "$1" <<<"link set eth0 up
addr replace $2/24 dev eth0
route replace default via $3"
}

# router sets the names of a node's router: r its namespace, ip its outside address.
router() {
	case $1 in
	a) r=ra ip=$RA ;;
	b) r=rb ip=$RB ;;
	cg) r=cg ip=$CG ;;
	*) die "$1: a router is a, b or cg" ;;
	esac
}

# outside gives a router its outside address and routes; inside takes it away.
outside() {
	local r ip
	router "$1"
	ips $r <<<"link set wan0 up
addr replace $ip/24 dev wan0"
	[ $r = ra ] || ip -n "$P-$r" route replace $OPEN_A.0/24 via $RA
	[ $r = rb ] || ip -n "$P-$r" route replace $OPEN_B.0/24 via $RB
}
inside() {
	local r ip
	router "$1"
	ip -n "$P-$r" addr del "$ip/24" dev wan0 2>/dev/null || true
}

# --- address translation ----------------------------------------------------------------------------------------------

# nat ROUTER TYPE [PORT]: PORT is where the kinds that keep ports begin instead (see rebind).
nat() {
	local node=$1 t=${2:-} port=${3:-} r ip lan host open='' wan='{ "wan0", "cwan" }' keep='' pre='' fwd=''
	router "$node"
	case $node in
	a) lan=lan0 host=10.1.0.2 open=$OPEN_A ;;
	b) lan=lan0 host=10.2.0.2 open=$OPEN_B ;;
	cg) lan=clan host=100.64.0.2 wan='{ "wan0" }' ;;
	esac
	local closed="iifname $wan ct state new ct status & dnat == 0 drop"
	local inp="iifname $wan meta l4proto udp drop"
	[ -z "$port" ] || keep="oifname $wan meta l4proto udp masquerade to :$port"
	local post="$keep
    oifname $wan masquerade"
	case $t in
	eim) ;;              # keeps the port: one mapping a socket, filters by address and port ("port-restricted cone")
	eim-openinput) inp='' ;; # the same, but the router answers unsolicited packets itself and remembers them
	sym) post="oifname $wan masquerade random" ;;
	symfull) post="oifname $wan masquerade fully-random" ;;
	symrange) # a small pool
		post="oifname $wan meta l4proto udp masquerade to :$((40000 + ${port:-0} % 20000))-$((40999 + ${port:-0} % 20000)) fully-random
    oifname $wan masquerade" ;;
	symseq) # counts: the next destination gets the next port of a hundred. A map, because numgen counts in host order
		post="oifname $wan meta l4proto udp masquerade to :numgen inc mod 100 map { $(for n in $(seq 0 99); do echo -n "$n : $((40000 + ${port:-0} % 20000 + n)), "; done)}
    oifname $wan masquerade" ;;
	symaddr) # every destination address gets a port of its own for each socket, whatever the port there
		post="oifname $wan meta l4proto udp masquerade to :jhash ip daddr . udp sport mod 1000 seed 1 map { $(for n in $(seq 0 999); do echo -n "$n : $((40000 + ${port:-0} % 20000 + n)), "; done)}
    oifname $wan masquerade" ;;
	fullcone) pre="iifname $wan meta l4proto udp dnat to $host" ;; # for one host
	addrres) # filters by address: whom the host has sent to may answer from any port
		pre="iifname $wan meta l4proto udp ip saddr @seen dnat to $host"
		fwd="oifname $wan meta l4proto udp update @seen { ip daddr timeout 30s }" ;;
	udpblock) fwd="meta l4proto udp drop" ;;
	udp443) fwd="iifname \"$lan\" udp dport != 443 drop" ;; # not with sport beside it: nft makes one comparison of both
	tcp443) fwd="meta l4proto udp drop
    iifname \"$lan\" tcp dport != 443 drop" ;;
	none)
		[ -n "$open" ] || die "a carrier without NAT is cgnat off"
		post='' closed='' inp='' ;;
	*) die "${t:-no type}: a NAT is one of eim eim-openinput sym symfull symrange symseq symaddr fullcone addrres udpblock udp443 tcp443 none" ;;
	esac
	# One transaction: no packet meets a router without rules. Other tables, cuts among them, stay.
	ns $r nft -f - <<N
table ip nl
delete table ip nl
table ip nl {
  set seen { type ipv4_addr; flags dynamic,timeout; timeout 30s; size 65535; }
  chain c_pre  { type nat hook prerouting priority dstnat; $pre
  }
  chain c_post { type nat hook postrouting priority srcnat; $post
  }
  chain c_fwd  { type filter hook forward priority filter; policy accept;
    $fwd
    $closed
  }
  chain c_inp  { type filter hook input priority filter; policy accept;
    iifname $wan ct state established,related accept
    $inp
  }
}
N
	if [ -n "$open" ]; then
		# A host without NAT speaks from an address of its own.
		if [ "$t" = none ]; then
			ips "$node" <<<"addr replace $open.2/24 dev eth0
route replace default via $open.1 src $open.2"
		else
			ip -n "$P-$node" addr del "$open.2/24" dev eth0 2>/dev/null || true
			ip -n "$P-$node" route replace default via "${host%.*}.1"
		fi
	fi
	echo "$t" >"$STATE/nat.$node"
	forget "$node"
}

# forget makes a router lose its mappings: masquerading drops them with the address they were made for.
forget() {
	local node=$1
	if [ "$node" = a ] && [ -e "$STATE/cgnat" ]; then
		forget_carrier
		ip -n "$P-ra" route replace default via 100.64.0.1
	else
		inside "$node"
		outside "$node"
	fi
}
forget_carrier() {
	ips ra <<<"addr del 100.64.0.2/24 dev cwan
addr add 100.64.0.2/24 dev cwan"
}

rebind() {
	local t n
	t=$(cat "$STATE/nat.$1" 2>/dev/null) || die "$1: no such router, or it has no NAT"
	case $t in
	eim | eim-openinput | sym*) ;;
	*) die "$1 is $t: only eim and sym kinds give out other ports" ;;
	esac
	n=$(($(cat "$STATE/rebind.$1" 2>/dev/null || echo 0) + 1))
	echo $n >"$STATE/rebind.$1"
	# One port is enough for the one UDP socket a player has, and makes the mapping the same for every destination.
	nat "$1" "$t" $((41000 + n))
}

hairpin() {
	local r ip host
	router "$1"
	case $1 in
	a) host=10.1.0.2 ;;
	b) host=10.2.0.2 ;;
	*) die "$1: hosts stand behind a and b" ;;
	esac
	ns $r nft delete table ip nlhp 2>/dev/null || true
	case ${2:-} in
	off) ;;
	on) ns $r nft -f - <<N
table ip nlhp {
  chain c_pre  { type nat hook prerouting priority dstnat - 1; iifname "lan0" ip daddr $ip meta l4proto udp dnat to $host
  }
  chain c_post { type nat hook postrouting priority srcnat - 1; iifname "lan0" oifname "lan0" ct status dnat snat to $ip
  }
}
N
		;;
	*) die "hairpin $1 on or off" ;;
	esac
}

# portmap runs Debian's miniupnpd on a router, in a table of its own. It takes no orders behind an address kept for
# documentation, as those of the lab are: the router gets one of the real internet, which nobody outside the lab can see.
# Come after nat, which gives the old address back.
portmap() {
	local r ip pid n public
	router "$1"
	case $1 in
	a) public=50.0.0.1 ;;
	b) public=50.0.0.2 ;;
	*) die "a carrier takes no orders" ;;
	esac
	if pid=$(cat "$STATE/portmap.$1" 2>/dev/null); then
		kill "$pid" 2>/dev/null || true
		rm -f "$STATE/portmap.$1"
	fi
	ns $r nft delete table inet nlmap 2>/dev/null || true
	case ${2:-} in
	off)
		ip -n "$P-$r" addr del $public/32 dev wan0 2>/dev/null || true
		outside "$1"
		return
		;;
	on) ;;
	*) die "portmap $1 on or off" ;;
	esac
	command -v miniupnpd >/dev/null || die "portmap needs miniupnpd"
	inside "$1"
	ips $r <<<"addr replace $public/32 dev wan0
route replace 198.51.100.0/24 dev wan0 src $public"
	for n in pub ra rb cg; do
		[ $n = $r ] || ip -n "$P-$n" route replace $public/32 dev wan0
	done
	ns $r nft -f - <<N
table inet nlmap {
  chain m_fwd     { }
  chain m_pre     { }
  chain m_post    { }
  chain c_fwd  { type filter hook forward priority filter - 2; policy accept; jump m_fwd
  }
  chain c_pre  { type nat hook prerouting priority dstnat - 2; policy accept; jump m_pre
  }
  chain c_post { type nat hook postrouting priority srcnat - 2; policy accept; jump m_post
  }
}
N
	cat >"$STATE/portmap.$1.conf" <<C
ext_ifname=wan0
listening_ip=lan0
http_port=5000
ipv6_disable=yes
enable_natpmp=yes
enable_upnp=yes
upnp_table_name=nlmap
upnp_nat_table_name=nlmap
upnp_forward_chain=m_fwd
upnp_nat_chain=m_pre
upnp_nat_postrouting_chain=m_post
secure_mode=yes
uuid=00000000-0000-4000-8000-00000000000$((16#${1}))
allow 1024-65535 0.0.0.0/0 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
C
	ns $r miniupnpd -d -f "$STATE/portmap.$1.conf" -P "$STATE/portmap.$1.pid" >"$STATE/portmap.$1.log" 2>&1 </dev/null 9>&- &
	echo $! >"$STATE/portmap.$1"
	for _ in $(seq 50); do
		! ns $r ss -Hlun 2>/dev/null | grep -q ':5351 ' || return 0
		kill -0 "$(cat "$STATE/portmap.$1")" 2>/dev/null || break
		sleep 0.05
	done
	cat "$STATE/portmap.$1.log" >&2
	die "miniupnpd did not start on router $1"
}

cgnat() {
	case ${1:-} in
	on)
		nat cg "${2:-eim}"
		: >"$STATE/cgnat"
		inside a
		ip -n "$P-ra" route replace default via 100.64.0.1
		;;
	off)
		rm -f "$STATE/cgnat"
		ip -n "$P-ra" route del default 2>/dev/null || true
		forget_carrier
		outside a
		;;
	*) die "cgnat on or off" ;;
	esac
}

# --- IPv6 -------------------------------------------------------------------------------------------------------------

# The internet is 2001:db8::/64, home networks are 2001:db8:1::/64 and 2001:db8:2::/64. relay.test is a name of the relay on those
# hosts that have IPv6, and on all others once one has.
ipv6() {
	local node=$1 s=1 r=ra x n
	case $node in
	a | a2) ;;
	b) s=2 r=rb ;;
	*) die "ipv6 a, a2 or b" ;;
	esac
	case ${2:-} in also | only) ;; *) die "ipv6 $node also or only" ;; esac
	for n in pub ra rb "$node"; do
		ns "$n" sh -c 'for f in /proc/sys/net/ipv6/conf/*/accept_dad; do echo 0 >"$f"; done
			echo 0 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	done
	ips pub <<<"addr replace 2001:db8::10/64 dev wan0 nodad
route replace 2001:db8:1::/64 via 2001:db8::a
route replace 2001:db8:2::/64 via 2001:db8::b"
	ips ra <<<"addr replace 2001:db8::a/64 dev wan0 nodad
addr replace 2001:db8:1::1/64 dev lan0 nodad
route replace 2001:db8:2::/64 via 2001:db8::b"
	ips rb <<<"addr replace 2001:db8::b/64 dev wan0 nodad
addr replace 2001:db8:2::1/64 dev lan0 nodad
route replace 2001:db8:1::/64 via 2001:db8::a"
	for x in ra rb; do
		ns $x sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
		ns $x nft -f - <<N
table ip6 nl6
delete table ip6 nl6
table ip6 nl6 {
  chain c_fwd { type filter hook forward priority filter; policy accept;
    iifname "wan0" ct state new drop
  }
}
N
	done
	n=2
	[ "$node" != a2 ] || n=3
	ips "$node" <<<"addr replace 2001:db8:$s::$n/64 dev eth0 nodad
route replace default via 2001:db8:$s::1"
	[ "$2" = also ] || ip -n "$P-$node" -4 addr flush dev eth0
	for n in a a2 b; do
		mkdir -p "/etc/netns/$P-$n"
		printf '127.0.0.1 localhost\n%s relay.test\n2001:db8::10 relay.test\n' $PUB1 >"/etc/netns/$P-$n/hosts"
	done
}

# --- disturbances -----------------------------------------------------------------------------------------------------

cut() {
	local r ip wan='{ "wan0", "cwan" }' rules relay="{ $PUB1, $PUB2 }"
	router "$1"
	case ${2:-} in
	off) rules='' ;;
	all) rules="drop" ;;
	relay) rules="meta l4proto udp ip saddr $relay drop
    meta l4proto udp ip daddr $relay drop" ;;
	direct) rules="iifname $wan ip saddr != $relay drop
    oifname $wan ip daddr != $relay drop" ;;
	*) die "cut $1 direct, relay, all or off" ;;
	esac
	ns $r nft delete table ip nlcut 2>/dev/null || true
	[ -z "$rules" ] || ns $r nft -f - <<N
table ip nlcut {
  chain c_fwd { type filter hook forward priority filter - 1; policy accept;
    $rules
  }
}
N
}

# readdress gives a host the address .HOST instead of the one it has; connections of the old one die.
readdress() {
	local net=10.1.0
	case $1 in
	a | a2) ;;
	b) net=10.2.0 ;;
	*) die "readdress a, a2 or b" ;;
	esac
	[[ $2 =~ ^[0-9]+$ ]] || die "readdress $1 needs a number"
	ip -n "$P-$1" addr flush dev eth0
	host "$1" "$net.$2" "$net.1"
}

unplug() {
	local net=10.1.0
	case $1 in
	a | a2) ;;
	b) net=10.2.0 ;;
	*) die "unplug a, a2 or b" ;;
	esac
	case $2 in
	on) ip -n "$P-$1" link set eth0 down ;;
	off) # the route went with the link
		ips "$1" <<<"link set eth0 up
route replace default via $net.1"
		;;
	*) die "unplug $1 on or off" ;;
	esac
}

# wandelay is the program that stands between two interfaces. Callers who have it built name it.
wandelay() {
	[ -z "${WANDELAY:-}" ] || { echo "$WANDELAY"; return; }
	[ -x "$STATE/wandelay" ] || (cd "$(dirname "$0")" && CGO_ENABLED=0 go build -o "$STATE/wandelay" ./wandelay) >&2
	echo "$STATE/wandelay"
}

undelay() {
	local f n
	for f in "$STATE"/delay.*; do
		[ -e "$f" ] || continue
		n=${f##*.}
		kill "$(cat "$f")" 2>/dev/null || true
		ip -n "$P-net" link set "p-$n" master br0
		ip -n "$P-net" link del "dl-$n" 2>/dev/null || true
		rm -f "$f"
	done
}

delay() {
	local n=${1:-} box i
	case $n in
	off) undelay; return ;;
	a) n=ra ;;
	b) n=rb ;;
	pub | cg) ;;
	*) die "delay a, b, pub, cg or off" ;;
	esac
	[ -n "${2:-}" ] || die "delay $1 needs a time such as 25ms"
	[ ! -e "$STATE/delay.$n" ] || die "$1 is delayed already: delay off first"
	box=$(wandelay)
	ip link add "dl-$n" netns "$P-net" type veth peer name "dlb-$n" netns "$P-net"
	ips net <<<"link set dl-$n up
link set dlb-$n master br0 up
link set p-$n nomaster"
	ns net "$box" -a "p-$n" -b "dl-$n" -delay "$2" -jitter "${3:-0}" -loss "${4:-0}" \
		>"$STATE/wandelay.$n" 2>&1 </dev/null &
	echo $! >"$STATE/delay.$n"
	for i in $(seq 100); do
		! grep -q '^ready$' "$STATE/wandelay.$n" || return 0
		sleep 0.05
	done
	cat "$STATE/wandelay.$n" >&2
	undelay
	die "the delay at $1 did not start"
}

show() {
	local r
	for r in ra rb cg; do
		echo "## $r"
		ns $r nft list ruleset
	done
}

check() {
	local why
	[ "$(id -u)" = 0 ] || { echo "natlab: needs root"; return 1; }
	for why in ip nft flock; do
		command -v $why >/dev/null || { echo "natlab: needs $why"; return 1; }
	done
	P=c$((BASHPID % 1000000))
	if why=$(NL=$P "$0" up 2>&1); then
		NL=$P "$0" down
		return 0
	fi
	echo "natlab: no lab can be made here: $why"
	return 1
}

case ${1:-} in
up | down | show | check) [ $# = 1 ] || usage; "$1" ;;
nat | hairpin | portmap | cut | readdress | unplug | ipv6) [ $# = 3 ] || usage; "$@" ;;
rebind) [ $# = 2 ] || usage; "$@" ;;
cgnat) [ $# -ge 2 ] && [ $# -le 3 ] || usage; "$@" ;;
delay) [ $# -ge 2 ] && [ $# -le 5 ] || usage; "$@" ;;
exec) [ $# -ge 3 ] || usage; shift; ns "$@" ;;
*) usage ;;
esac
