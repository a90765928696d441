package wiretap

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"testing"
)

// ether puts a frame around an IP packet.
func ether(typ uint16, ip []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 12), typ), ip...)
}

func ip4(protocol byte, options int, body []byte) []byte {
	b := make([]byte, 20+options)
	b[0] = 0x40 | byte(len(b)/4)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)+len(body)))
	b[9] = protocol
	copy(b[12:], []byte{10, 1, 0, 2, 198, 51, 100, 10})
	return append(b, body...)
}

func ip6(protocol byte, body []byte) []byte {
	b := make([]byte, 40)
	b[0] = 0x60
	binary.BigEndian.PutUint16(b[4:], uint16(len(body)))
	b[6] = protocol
	src, dst := netip.MustParseAddr("2001:db8::1").As16(), netip.MustParseAddr("2001:db8::2").As16()
	copy(b[8:], src[:])
	copy(b[24:], dst[:])
	return append(b, body...)
}

func udpBody(payload string) []byte {
	b := []byte{0x13, 0x88, 0x0D, 0x96, 0, byte(8 + len(payload)), 0, 0}
	return append(b, payload...)
}

func tcpBody(flags byte, options int, payload string) []byte {
	b := make([]byte, 20+options)
	copy(b, []byte{0x13, 0x88, 0x0D, 0x96, 0, 0, 1, 2})
	b[12], b[13] = byte(len(b)/4)<<4, flags
	return append(b, payload...)
}

func TestParse(t *testing.T) {
	src4, dst4 := netip.MustParseAddrPort("10.1.0.2:5000"), netip.MustParseAddrPort("198.51.100.10:3478")
	src6, dst6 := netip.MustParseAddrPort("[2001:db8::1]:5000"), netip.MustParseAddrPort("[2001:db8::2]:3478")
	for name, c := range map[string]struct {
		b    []byte
		want Packet
	}{
		"UDP":                   {ether(0x0800, ip4(17, 0, udpBody("hello"))), Packet{Protocol: UDP, Src: src4, Dst: dst4, Payload: []byte("hello")}},
		"UDP, nothing in it":    {ether(0x0800, ip4(17, 0, udpBody(""))), Packet{Protocol: UDP, Src: src4, Dst: dst4}},
		"padded frame":          {append(ether(0x0800, ip4(17, 0, udpBody("x"))), make([]byte, 17)...), Packet{Protocol: UDP, Src: src4, Dst: dst4, Payload: []byte("x")}},
		"IPv4 options":          {ether(0x0800, ip4(17, 8, udpBody("x"))), Packet{Protocol: UDP, Src: src4, Dst: dst4, Payload: []byte("x")}},
		"IPv6":                  {ether(0x86DD, ip6(17, udpBody("hello"))), Packet{Protocol: UDP, Src: src6, Dst: dst6, Payload: []byte("hello")}},
		"TCP":                   {ether(0x0800, ip4(6, 0, tcpBody(0x18, 0, "hello"))), Packet{Protocol: TCP, Src: src4, Dst: dst4, Seq: 0x102, Payload: []byte("hello")}},
		"TCP options and SYN":   {ether(0x0800, ip4(6, 0, tcpBody(2, 12, ""))), Packet{Protocol: TCP, Src: src4, Dst: dst4, Seq: 0x102, SYN: true}},
		"TCP over IPv6 and FIN": {ether(0x86DD, ip6(6, tcpBody(0x11, 0, ""))), Packet{Protocol: TCP, Src: src6, Dst: dst6, Seq: 0x102, FIN: true}},
	} {
		got, err := Parse(c.b)
		same := got.Protocol == c.want.Protocol && got.Src == c.want.Src && got.Dst == c.want.Dst && got.Seq == c.want.Seq &&
			got.SYN == c.want.SYN && got.FIN == c.want.FIN && slices.Equal(got.Payload, c.want.Payload)
		if err != nil || !same {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	change := func(b []byte, at int, v byte) []byte { c := slices.Clone(b); c[at] = v; return c }
	udp := ether(0x0800, ip4(17, 0, udpBody("hello")))
	tcp := ether(0x0800, ip4(6, 0, tcpBody(0x18, 0, "hello")))
	udp6 := ether(0x86DD, ip6(17, udpBody("hello")))
	const ip = etherHeader
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":                       {nil, ErrMalformed},
		"half a frame":                  {udp[:10], ErrMalformed},
		"half an IPv4 header":           {udp[:ip+19], ErrMalformed},
		"half an IPv6 header":           {udp6[:ip+39], ErrMalformed},
		"a cut packet":                  {udp[:len(udp)-1], ErrMalformed},
		"a cut IPv6 packet":             {udp6[:len(udp6)-1], ErrMalformed},
		"version 5":                     {change(udp, ip, 0x55), ErrMalformed},
		"version 5 of IPv6":             {change(udp6, ip, 0x50), ErrMalformed},
		"a header of 16 bytes":          {change(udp, ip, 0x44), ErrMalformed},
		"a length below the header":     {change(udp, ip+3, 19), ErrMalformed},
		"UDP longer than its packet":    {change(udp, ip+25, 14), ErrMalformed},
		"UDP shorter than its packet":   {change(udp, ip+25, 12), ErrMalformed},
		"UDP without a header":          {ether(0x0800, ip4(17, 0, make([]byte, 7))), ErrMalformed},
		"TCP without a header":          {ether(0x0800, ip4(6, 0, make([]byte, 19))), ErrMalformed},
		"TCP with a header of 16 bytes": {change(tcp, ip+32, 0x40), ErrMalformed},
		"TCP header beyond its packet":  {change(tcp, ip+32, 0xF0), ErrMalformed},
		"more fragments":                {change(udp, ip+6, 0x20), ErrFragment},
		"a later fragment":              {change(udp, ip+7, 1), ErrFragment},
		"an IPv6 fragment":              {change(udp6, ip+6, 44), ErrFragment},
		"ARP":                           {ether(0x0806, make([]byte, 28)), ErrOther},
		"ICMP":                          {ether(0x0800, ip4(1, 0, make([]byte, 8))), ErrOther},
		"a fragment of ICMP":            {change(ether(0x0800, ip4(1, 0, make([]byte, 8))), ip+7, 1), ErrOther},
		"ICMPv6":                        {ether(0x86DD, ip6(58, make([]byte, 8))), ErrOther},
	} {
		if got, err := Parse(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
}

// Parse never reads beyond the frame, and gives back a piece of it.
func FuzzParse(f *testing.F) {
	f.Add(ether(0x0800, ip4(17, 0, udpBody("hello"))))
	f.Add(ether(0x0800, ip4(6, 4, tcpBody(0x18, 8, "hello"))))
	f.Add(ether(0x86DD, ip6(17, udpBody("hello"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err == nil && (len(p.Payload) > len(b)-etherHeader-28 || p.Protocol != UDP && p.Protocol != TCP || !p.Src.IsValid() || !p.Dst.IsValid()) {
			t.Errorf("%+v from %d bytes", p, len(b))
		}
	})
}
