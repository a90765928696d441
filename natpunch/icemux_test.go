package natpunch

import (
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/pion/stun/v2"

	"backstep/natpunch/stunguard"
)

var (
	peerAddr  = netip.MustParseAddrPort("203.0.113.1:1000")
	thirdAddr = netip.MustParseAddrPort("203.0.113.66:666")
)

// muxLab is an iceMux with everything it does written down.
type muxLab struct {
	*iceMux
	conn   *muxConn
	drops  map[Drop]int
	taken  []string
	proved []netip.AddrPort
	sent   [][]byte
}

func newMuxLab(t *testing.T) *muxLab {
	t.Helper()
	l := &muxLab{drops: map[Drop]int{}}
	l.iceMux = &iceMux{
		cred:   credentials{"ownufrag", "own password of 24 bytes", "hisufrag", "his password of 24 bytes"},
		bases:  []net.Addr{&net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}},
		send:   func(b []byte, _ netip.AddrPort) error { l.sent = append(l.sent, append([]byte(nil), b...)); return nil },
		permit: func(a netip.Addr) bool { return !a.IsLoopback() },
		accept: func(b []byte, _ netip.AddrPort) { l.taken = append(l.taken, string(b)) },
		proven: func(a netip.AddrPort) { l.proved = append(l.proved, a) },
		drop:   func(d Drop) { l.drops[d]++ },
	}
	c, err := l.GetConn("ownufrag", l.bases[0])
	if err != nil {
		t.Fatal(err)
	}
	l.conn = c.(*muxConn)
	return l
}

func request(user, password string) *stun.Message {
	return stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewUsername(user), stun.NewShortTermIntegrity(password), stun.Fingerprint)
}

func (l *muxLab) theirRequest() []byte {
	return request("ownufrag:hisufrag", l.cred.localPwd).Raw
}

// check sends a check of ours to addr and returns the answer that belongs to it.
func (l *muxLab) check(addr netip.AddrPort, password string) []byte {
	req := request("hisufrag:ownufrag", l.cred.remotePwd)
	if _, err := l.conn.WriteTo(req.Raw, net.UDPAddrFromAddrPort(addr)); err != nil {
		panic(err)
	}
	return stun.MustBuild(req, stun.BindingSuccess, &stun.XORMappedAddress{IP: net.IPv4(1, 2, 3, 4).To4(), Port: 5},
		stun.NewShortTermIntegrity(password), stun.Fingerprint).Raw
}

func (l *muxLab) want(t *testing.T, why Drop, n int) {
	t.Helper()
	if l.drops[why] != n {
		t.Errorf("%v: %d, want %d (%v)", why, l.drops[why], n, l.drops)
	}
}

// TestMuxRecordsOnlyAfterAnAnsweredCheck, security.md 6.1.
func TestMuxRecordsOnlyAfterAnAnsweredCheck(t *testing.T) {
	l := newMuxLab(t)
	if l.record([]byte("a"), peerAddr) {
		t.Fatal("a record from nowhere was taken")
	}
	l.want(t, DropDTLSSource, 1)
	l.inbound(l.theirRequest(), peerAddr)
	if len(l.proved) != 0 || l.record([]byte("b"), peerAddr) {
		t.Fatal("asking is not answering")
	}
	answer := l.check(peerAddr, l.cred.remotePwd)
	l.inbound(answer, thirdAddr) // right answer, wrong address
	l.want(t, DropSTUNForged, 1)
	if l.record([]byte("x"), thirdAddr) {
		t.Fatal("third address got in with a stolen answer")
	}
	l.inbound(answer, peerAddr)
	if len(l.proved) != 1 || !l.record([]byte("c"), peerAddr) {
		t.Fatal("an answered check did not open the address")
	}
	if len(l.taken) != 1 || l.taken[0] != "b" {
		t.Errorf("held records: %q", l.taken)
	}
	l.inbound(answer, peerAddr) // again: the transaction is over
	l.want(t, DropSTUNForged, 2)
	if l.record([]byte("y"), thirdAddr) {
		t.Error("third address open")
	}
}

func TestMuxForgeries(t *testing.T) {
	l := newMuxLab(t)
	send := func(b []byte) {
		if err := stunguard.Check(b); err != nil {
			t.Fatal(err)
		}
		l.inbound(b, thirdAddr)
	}
	send(request("ownufrag:hisufrag", "guess").Raw)
	send(request("hisufrag:ownufrag", l.cred.localPwd).Raw)
	send(request("ownufrag", l.cred.localPwd).Raw)
	send(stun.MustBuild(stun.BindingRequest, stun.TransactionID, stun.NewUsername("ownufrag:hisufrag"), stun.Fingerprint).Raw)
	send(stun.MustBuild(stun.NewType(stun.MethodBinding, stun.ClassIndication), stun.TransactionID, stun.NewUsername("ownufrag:hisufrag"),
		stun.NewShortTermIntegrity(l.cred.localPwd), stun.Fingerprint).Raw)
	send(stun.MustBuild(stun.BindingError, stun.TransactionID, stun.NewShortTermIntegrity(l.cred.remotePwd), stun.Fingerprint).Raw)
	send(l.check(thirdAddr, "guess"))                                      // our check, answered without the key
	l.inbound(l.theirRequest(), netip.MustParseAddrPort("127.0.0.1:3478")) // an address no path may have
	l.want(t, DropSTUNForged, 8)
	if len(l.conn.queue) != 0 || len(l.remotes) != 0 || len(l.proved) != 0 {
		t.Error("a forgery reached the agent")
	}
}

// TestMuxReplay: a captured request sent again from another address neither
// reaches the agent nor opens that address.
func TestMuxReplay(t *testing.T) {
	l := newMuxLab(t)
	b := l.theirRequest()
	l.inbound(b, peerAddr)
	l.inbound(b, thirdAddr)
	l.inbound(b, peerAddr) // the network may duplicate
	l.want(t, DropSTUNReplayed, 1)
	if len(l.conn.queue) != 2 || len(l.remotes) != 1 {
		t.Error(len(l.conn.queue), l.remotes)
	}
}

func TestMuxBounds(t *testing.T) {
	l := newMuxLab(t)
	for i := range 100 {
		l.inbound(l.theirRequest(), netip.AddrPortFrom(peerAddr.Addr(), uint16(1+i)))
	}
	if len(l.remotes) != maxRemotes {
		t.Errorf("%d addresses known", len(l.remotes))
	}
	l.want(t, DropSTUNFull, 100-maxRemotes)
	for range 100 {
		l.record([]byte("early"), netip.AddrPortFrom(peerAddr.Addr(), 1))
	}
	if len(l.held) != maxHeld {
		t.Errorf("%d held", len(l.held))
	}
	for range 100 {
		l.inbound(l.theirRequest(), netip.AddrPortFrom(peerAddr.Addr(), 1))
	}
	if len(l.conn.queue) != muxSlots {
		t.Errorf("%d queued", len(l.conn.queue))
	}
	l.shut()
	l.want(t, DropDTLSEarly, 100)
	if l.record([]byte("late"), netip.AddrPortFrom(peerAddr.Addr(), 1)) {
		t.Error("a shut mux takes records")
	}
}

func TestMuxConn(t *testing.T) {
	l := newMuxLab(t)
	if _, err := l.GetConn("another", l.bases[0]); err == nil {
		t.Error("a connection for another agent")
	}
	again, _ := l.GetConn("ownufrag", l.bases[0])
	if again != net.PacketConn(l.conn) {
		t.Error("two connections of one family")
	}
	b := l.theirRequest()
	l.inbound(b, peerAddr)
	buf := make([]byte, 1500)
	n, from, err := l.conn.ReadFrom(buf)
	if err != nil || string(buf[:n]) != string(b) || from.String() != peerAddr.String() {
		t.Error(n, from, err)
	}
	done := make(chan error, 1)
	go func() { _, _, err := l.conn.ReadFrom(buf); done <- err }()
	l.conn.Close()
	if err := <-done; err != io.EOF {
		t.Error(err)
	}
	if _, err := l.conn.WriteTo(b, net.UDPAddrFromAddrPort(peerAddr)); err != io.ErrClosedPipe {
		t.Error(err)
	}
	l.inbound(l.theirRequest(), netip.MustParseAddrPort("[2001:db8::1]:1")) // no IPv6 base: nowhere to go
	l.want(t, DropSTUNFull, 1)
}

func TestMuxRecordAllocates(t *testing.T) {
	l := newMuxLab(t)
	l.inbound(l.check(peerAddr, l.cred.remotePwd), peerAddr)
	b := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		if !l.record(b, peerAddr) {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func FuzzMuxInbound(f *testing.F) {
	f.Add(request("ownufrag:hisufrag", "own password of 24 bytes").Raw)
	f.Add(stun.MustBuild(stun.BindingSuccess, stun.TransactionID, stun.NewShortTermIntegrity("his password of 24 bytes"), stun.Fingerprint).Raw)
	f.Fuzz(func(t *testing.T, b []byte) {
		if stunguard.Check(b) != nil {
			return
		}
		l := newMuxLab(t)
		l.inbound(b, thirdAddr)
		if len(l.proved) != 0 {
			t.Fatal("proved without having been asked")
		}
	})
}
