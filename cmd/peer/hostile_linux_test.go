package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/relay"
)

// udpPort finds the UDP port of a process: the one socket among its open files.
func (p *process) udpPort() uint16 {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		sockets := map[string]bool{}
		dir := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
		files, err := os.ReadDir(dir)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, f := range files {
			link, _ := os.Readlink(dir + "/" + f.Name()) // files close while we look
			if inode, ok := strings.CutPrefix(link, "socket:["); ok {
				sockets[strings.TrimSuffix(inode, "]")] = true
			}
		}
		for _, table := range []string{"udp", "udp6"} {
			if port, ok := boundPort("/proc/net/"+table, sockets); ok {
				return port
			}
		}
	}
	p.t.Fatal("the process has no UDP socket")
	return 0
}

// boundPort looks for one of the socket inodes in a table of the kernel.
func boundPort(table string, inodes map[string]bool) (uint16, bool) {
	f, err := os.Open(table)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Fields(s.Text())
		if len(col) > 9 && inodes[col[9]] {
			_, port, _ := strings.Cut(col[1], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			return uint16(n), err == nil
		}
	}
	return 0, false
}

// mutate makes something hostile of a datagram: cut, flipped, grown, or the same once more.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	switch rng.IntN(4) {
	case 0:
		return b[:rng.IntN(len(b)+1)]
	case 1:
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
	case 2:
		for range 1 + rng.IntN(1900) {
			b = append(b, byte(rng.Uint32()))
		}
	}
	return b
}

// made is a datagram of a class that the socket knows, with nonsense or a plausible forgery in it.
func made(rng *rand.Rand) []byte {
	b := make([]byte, rng.IntN(1500))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	if len(b) > 32 {
		switch rng.IntN(5) {
		case 0: // STUN request
			copy(b, []byte{0, 1, byte(len(b) >> 8), byte(len(b) - 20), 0x21, 0x12, 0xA4, 0x42})
		case 1: // DTLS record in clear, of a type that ends sessions
			size := len(b) - 13
			copy(b, []byte{[]byte{21, 23, 25, 99}[rng.IntN(4)], 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 1, byte(size >> 8), byte(size)})
		case 2: // sealed DTLS record with a wrong tag
			size := len(b) - 13
			copy(b, []byte{23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, byte(rng.Uint32()), byte(size >> 8), byte(size)})
		case 3: // frame of the relay
			b[0] = 0xF0 + byte(rng.IntN(16))
			b[1] = 1
		}
	}
	return b
}

// Foreign datagrams rain on both peers and on the relay while they play. None reaches the match.
func TestForeignDatagrams(t *testing.T) {
	t.Parallel()
	r := newRelay(t, func(c *relay.Config) { c.Admin = "127.0.0.1:0" })
	addr := r.Addrs()[0]
	d := startDuel(t, addr.String(), []string{"--frames", "300"}, nil, nil)
	targets := []netip.AddrPort{addr}
	for _, p := range []*process{d.host, d.join} {
		targets = append(targets, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p.udpPort()))
	}
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rng := rand.New(rand.NewPCG(11, 12))
	sent := 0
	for running(d.host) && running(d.join) {
		for _, to := range targets {
			for range 4 {
				if _, err := conn.WriteToUDPAddrPort(made(rng), to); err == nil {
					sent++
				}
			}
		}
		time.Sleep(4 * time.Millisecond)
	}
	for side, r := range d.end(300) {
		forged, _ := field(r, "packets.forged")
		malformed, _ := field(r, "packets.malformed")
		if forged.(float64) < 100 || malformed.(float64) < 100 {
			t.Errorf("side %d: forged %v, malformed %v of about %d", side, forged, malformed, sent/3)
		}
	}
	if n := dropped(t, r.Admin()); n < 100 {
		t.Errorf("the relay counted %v drops of about %d", n, sent/3)
	}
}

// dropped is the sum of the relay's drop counters.
func dropped(t *testing.T, admin netip.AddrPort) (sum float64) {
	t.Helper()
	res, err := http.Get("http://" + admin.String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	for s := bufio.NewScanner(res.Body); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), "} "); ok && strings.Contains(name, "dropped_datagrams_total{") {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Errorf("metric %q", s.Text())
			}
			sum += n
		}
	}
	return sum
}

func running(p *process) bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// middle stands between both peers and their relay, on TCP and on UDP: it passes everything on and adds what it likes.
// It begins when the peers play: whoever forges datagrams of a handshake can spoil it, as somebody who drops them can.
type middle struct {
	tcp   net.Listener
	udp   *net.UDPConn
	plays atomic.Int32 // records of a match seen
}

// awake looks at a datagram and tells whether it is time.
func (m *middle) awake(b []byte) bool {
	if _, record, err := rendezvous.ParseData(b); err == nil && record[0] == 23 { // application data
		m.plays.Add(1)
	}
	return m.plays.Load() > 40
}

// Somebody on the way reads every datagram and sends changed, old and made-up ones along, from the right addresses.
func TestDatagramsOnTheWay(t *testing.T) {
	t.Parallel()
	relayAddr := startRelay(t, nil)
	m := startMiddle(t, relayAddr)
	d := startDuel(t, m, []string{"--frames", "300", "--path", "relay"}, nil, []string{"--fec", "xor"})
	for side, r := range d.end(300) {
		forged, _ := field(r, "packets.forged")
		malformed, _ := field(r, "packets.malformed")
		if r["path"] != "relay" || forged.(float64) < 20 {
			t.Errorf("side %d: path %v, forged %v, malformed %v", side, r["path"], forged, malformed)
		}
	}
}

// startMiddle returns the address that peers take for the relay.
func startMiddle(t *testing.T, to netip.AddrPort) string {
	t.Helper()
	var m middle
	var err error
	for range 20 { // the number has to be free for both
		if m.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if m.udp, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(m.tcp.Addr().String()))); err == nil {
			break
		}
		_ = m.tcp.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{}, 2)
	go func() { m.forwardTCP(to); done <- struct{}{} }()
	go func() { m.forwardUDP(to); done <- struct{}{} }()
	t.Cleanup(func() {
		_ = m.tcp.Close()
		_ = m.udp.Close()
		<-done
		<-done
	})
	return m.tcp.Addr().String()
}

func (m *middle) forwardTCP(to netip.AddrPort) {
	ended := make(chan struct{})
	pairs := 0
	for {
		near, err := m.tcp.Accept()
		if err != nil {
			break
		}
		far, err := net.Dial("tcp", to.String())
		if err != nil {
			_ = near.Close()
			continue
		}
		for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
			pairs++
			go func() {
				_, _ = pair[0].(*net.TCPConn).WriteTo(pair[1]) // ends when either side closes
				_ = pair[0].Close()
				_ = pair[1].Close()
				ended <- struct{}{}
			}()
		}
	}
	for range pairs {
		<-ended
	}
}

// forwardUDP gives every peer a socket of its own towards the relay, as a NAT does.
func (m *middle) forwardUDP(to netip.AddrPort) {
	far := map[netip.AddrPort]*net.UDPConn{}
	ended := make(chan struct{})
	rng := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, 4096)
	for {
		n, from, err := m.udp.ReadFromUDPAddrPort(b)
		if err != nil {
			break
		}
		up := far[from]
		if up == nil {
			if up, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to)); err != nil {
				continue
			}
			far[from] = up
			go func() {
				defer func() { ended <- struct{}{} }()
				down := rand.New(rand.NewPCG(7, uint64(from.Port())))
				b := make([]byte, 4096)
				var old [][]byte
				for {
					n, err := up.Read(b)
					if err != nil {
						return
					}
					_, _ = m.udp.WriteToUDPAddrPort(b[:n], from)
					if !m.awake(b[:n]) {
						continue
					}
					for _, evil := range more(down, &old, b[:n]) {
						_, _ = m.udp.WriteToUDPAddrPort(evil, from)
					}
				}
			}()
		}
		_, _ = up.Write(b[:n])
		// The relay limits what a side sends: half as much again stays below that.
		if m.awake(b[:n]) && rng.IntN(2) == 0 {
			_, _ = up.Write(mutate(rng, b[:n]))
		}
	}
	for _, up := range far {
		_ = up.Close()
		<-ended
	}
}

// more is what the one on the way sends behind a datagram of the relay: a changed copy, an old one, and a made-up record
// in a frame of the right channel.
func more(rng *rand.Rand, old *[][]byte, b []byte) [][]byte {
	if *old = append(*old, append([]byte(nil), b...)); len(*old) > 512 {
		*old = (*old)[1:]
	}
	out := [][]byte{mutate(rng, b), (*old)[rng.IntN(len(*old))]}
	if channel, _, err := rendezvous.ParseData(b); err == nil {
		if evil := made(rng); len(evil) > 0 && len(evil) <= rendezvous.MaxData {
			out = append(out, rendezvous.AppendData(nil, channel, evil))
		}
	}
	return out
}
