package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
)

// pipe is a scripted tunnel client.
type pipe struct {
	t  testing.TB
	ws *websocket.Conn
}

func dialTunnel(t testing.TB, r *running, from string, header http.Header) (*pipe, *http.Response, error) {
	t.Helper()
	p, resp, err := dialPath(t, r, rendezvous.TunnelPath, from, header)
	if err != nil {
		return nil, resp, err
	}
	return &pipe{t, p.ws}, resp, nil
}

func (r *running) tunnel(t testing.TB) *pipe {
	t.Helper()
	p, _, err := dialTunnel(t, r, "127.0.0.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pipe) send(b []byte) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.ws.Write(ctx, websocket.MessageBinary, b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipe) next(d time.Duration) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_, b, err := p.ws.Read(ctx)
	if err != nil {
		return nil
	}
	return b
}

// bind registers; there is no challenge over TCP.
func (p *pipe) bind(k *token) rendezvous.Ack {
	p.t.Helper()
	p.send(k.frame())
	b := p.next(patience)
	var ack rendezvous.Ack
	if err := rendezvous.ParseAck(b, &ack); err != nil || !rendezvous.CheckTag(b, &k.key) {
		p.t.Fatalf("instead of an acknowledgement: %x", b)
	}
	return ack
}

// closed asserts that the relay ends the tunnel and says nothing before.
func (p *pipe) closed() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, b, err := p.ws.Read(ctx); err == nil {
		p.t.Fatalf("got %x", b)
	} else if ctx.Err() != nil {
		p.t.Fatal("the tunnel stays open")
	}
}

// carrier is a player's way to the relay.
type carrier interface {
	send([]byte)
	next(time.Duration) []byte
}

func carry(t *testing.T, channel uint32, a, b carrier) {
	t.Helper()
	frame := rendezvous.AppendData(nil, channel, []byte(time.Now().String()))
	a.send(frame)
	if got := b.next(patience); !bytes.Equal(got, frame) {
		t.Fatalf("sent %x, arrived %x", frame, got)
	}
}

// Each side by UDP or through a tunnel, in every combination, both ways.
func TestTunnelForwards(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	channel := uint32(50)
	for _, hostTunnel := range []bool{false, true} {
		for _, joinTunnel := range []bool{false, true} {
			t.Run(fmt.Sprint(hostTunnel, joinTunnel), func(t *testing.T) {
				channel++
				open := func(side rendezvous.Side, tunnel bool) carrier {
					k := r.token(side, channel, byte(channel))
					if !tunnel {
						p := dialUDP(t, r.addr, "127.0.0.1")
						p.bind(k)
						return p
					}
					p := r.tunnel(t)
					if ack := p.bind(k); ack.Addr.Addr().String() != "127.0.0.1" || ack.TTL == 0 {
						t.Fatalf("%+v", ack)
					}
					return p
				}
				host, join := open(rendezvous.SideHost, hostTunnel), open(rendezvous.SideJoin, joinTunnel)
				for range 3 {
					carry(t, channel, host, join)
					carry(t, channel, join, host)
				}
				big := rendezvous.AppendData(nil, channel, bytes.Repeat([]byte{7}, rendezvous.MaxData))
				host.send(big)
				if !bytes.Equal(join.next(patience), big) {
					t.Fatal("the largest frame did not arrive")
				}
			})
		}
	}
	if n := r.tunnels.sent[kindData].Load(); n == 0 || r.tunnels.received[kindRegister].Load() != 4 {
		t.Fatal("not counted", n)
	}
}

// The newest binding of a side wins, over TCP or UDP; the one it replaces cannot speak any more.
func TestTunnelNewestWins(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	hk, jk := r.token(rendezvous.SideHost, 9, 1), r.token(rendezvous.SideJoin, 9, 1)
	join := dialUDP(t, r.addr, "127.0.0.1")
	join.bind(jk)
	udp, one := dialUDP(t, r.addr, "127.0.0.1"), r.tunnel(t)
	udp.bind(hk)
	carry(t, 9, join, udp)
	one.bind(hk)
	carry(t, 9, join, one)
	carry(t, 9, one, join)
	r.silent(t, udp, rendezvous.AppendData(nil, 9, []byte("x")), dropDataSource)
	udp.bind(hk) // UDP works again; the tunnel stays for later
	carry(t, 9, join, udp)
	before := r.dropped(dropDataSource)
	one.send(rendezvous.AppendData(nil, 9, []byte("x")))
	wait(t, "the old tunnel to be refused", func() bool { return r.dropped(dropDataSource) == before+1 })
	one.bind(hk)
	carry(t, 9, join, one)
	two := r.tunnel(t)
	two.bind(hk) // the client lost the first connection
	one.closed()
	carry(t, 9, join, two)
	// The end of a replaced tunnel unbinds nobody; that of the bound one does.
	carry(t, 9, two, join)
	two.ws.CloseNow()
	wait(t, "the side to be unbound", func() bool {
		before := r.dropped(dropDataUnbound)
		join.send(rendezvous.AppendData(nil, 9, []byte("x")))
		time.Sleep(5 * time.Millisecond)
		return r.dropped(dropDataUnbound) > before
	})
	// A registration captured earlier does not bring a side back, not even over TCP, where no cookie is asked for.
	captured := rendezvous.AppendReg(nil, &hk.Reg, &hk.key)
	thief := r.tunnel(t)
	thief.send(captured)
	thief.closed()
	if r.dropped(dropRegCounter) != 1 {
		t.Fatal("a replay was not refused by its counter")
	}
}

// Attack case 14: what is not the registration of a channel, then data of that channel, closes a tunnel.
func TestCase14TunnelRefuses(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	wrongTag := r.token(0, 3, 1)
	wrongTag.Lobby[0]++
	expired := r.token(0, 3, 1)
	expired.Expiry = 1
	expired.key = rendezvous.DeriveRegKey(&r.fwd.secret.key, expired.Lobby, 3, 0, 1)
	for name, b := range map[string][]byte{
		"data before registration": rendezvous.AppendData(nil, 3, []byte("x")),
		"STUN":                     appendStunRequest(nil, [12]byte{}, 128),
		"garbage":                  []byte("GET / HTTP/1.1"),
		"empty":                    {},
		"short":                    {rendezvous.FrameReg},
		"wrong tag":                wrongTag.frame(),
		"expired":                  expired.frame(),
		"too long":                 make([]byte, rendezvous.MaxFrame+1),
		"far too long":             make([]byte, 1<<20),
	} {
		t.Run("first/"+name, func(t *testing.T) {
			p := r.tunnel(t)
			p.ws.Write(t.Context(), websocket.MessageBinary, b)
			p.closed()
		})
	}
	t.Run("first/text", func(t *testing.T) {
		p := r.tunnel(t)
		p.ws.Write(t.Context(), websocket.MessageText, []byte("hello"))
		p.closed()
	})
	other := r.token(0, 8, 1)
	channel := uint32(100)
	for name, b := range map[string][]byte{
		"foreign channel":      rendezvous.AppendData(nil, 4, []byte("x")),
		"data without channel": {rendezvous.FrameData, 7, 0},
		"another channel":      other.frame(),
		"STUN":                 appendStunRequest(nil, [12]byte{}, 128),
		"challenge":            rendezvous.AppendChal(nil, &rendezvous.Chal{}, &other.key),
		"too long":             make([]byte, rendezvous.MaxFrame+1),
	} {
		t.Run("later/"+name, func(t *testing.T) {
			channel++
			p := r.tunnel(t)
			p.bind(r.token(0, channel, 1))
			p.ws.Write(t.Context(), websocket.MessageBinary, b)
			p.closed()
		})
	}
	t.Run("connect", func(t *testing.T) {
		c := rawTCP(t, r)
		io.WriteString(c, "CONNECT /tunnel HTTP/1.1\r\nHost: x\r\n\r\n")
		if b, _ := io.ReadAll(c); !bytes.HasPrefix(b, []byte("HTTP/1.1 40")) {
			t.Fatalf("%.60q", b)
		}
	})
	wait(t, "all tunnels to be gone", func() bool { return r.tunnels.open.Load() == 0 })
	if n, _ := r.fwd.table.count(r.clock.mono(), r.fwd.silent); n != 6 {
		t.Fatalf("%d sessions, want those of the six that registered", n)
	}
}

// Attack case 14: a crowd of idle connections is bounded at the door, what is inside and says nothing is closed, and a match
// goes on beside it.
func TestCase14IdleTunnels(t *testing.T) {
	r := start(t, Config{Limits: Limits{MaxConns: 200, HeaderTimeout: 2 * time.Second, TunnelIdle: 300 * time.Millisecond}})
	before := runtime.NumGoroutine()
	var held []net.Conn
	for i := range 10_000 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(fmt.Sprintf("127.%d.%d.1", 10+i%40, i%7))}, Timeout: patience}
		c, err := d.Dial("tcp", r.addr.String())
		if err != nil {
			continue
		}
		t.Cleanup(func() { c.Close() })
		if held = append(held, c); len(held) > 1000 { // those at the front were closed by the relay long ago
			held[len(held)-1001].Close()
		}
		fmt.Fprintf(c, "GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
		if i%1000 == 0 {
			if n := r.count.now(); n > 200 {
				t.Fatalf("%d connections", n)
			}
			if n := runtime.NumGoroutine(); n > before+3*200+50 {
				t.Fatalf("%d goroutines, before %d", n, before)
			}
		}
	}
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(r.token(rendezvous.SideHost, 7, 1))
	join.bind(r.token(rendezvous.SideJoin, 7, 1))
	carry(t, 7, host, join)
	wait(t, "the idle ones to be closed", func() bool { return r.tunnels.open.Load() == 0 && r.count.now() == 0 })
	if r.hub.count.crowded.Load() == 0 {
		t.Fatal("nobody was refused at the door")
	}
	// One that registered and fell silent is closed as well, one that registers again is not.
	p, k := r.tunnel(t), r.token(rendezvous.SideHost, 8, 1)
	for range 4 {
		p.bind(k)
		time.Sleep(150 * time.Millisecond)
	}
	p.closed()
}

// A tunnel whose client does not read keeps 64 KB of the newest frames and is closed when a write takes too long.
func TestTunnelKeepsTheNewest(t *testing.T) {
	r := start(t, Config{Limits: Limits{WriteTimeout: 3 * time.Second, PacketsPerSec: 1e6, BytesPerSec: 1e9}})
	hk, jk := r.token(rendezvous.SideHost, 9, 1), r.token(rendezvous.SideJoin, 9, 1)
	host, slow := dialUDP(t, r.addr, "127.0.0.1"), r.tunnel(t)
	slow.ws.SetReadLimit(-1)
	host.bind(hk)
	slow.bind(jk)
	const n = 8000
	payload := make([]byte, 1000)
	for i := range uint32(n) {
		binary.LittleEndian.PutUint32(payload, i)
		host.send(rendezvous.AppendData(nil, 9, payload))
		if i%64 == 63 { // within what sockets hold
			wait(t, "the relay to keep up", func() bool { return r.totals().received[kindData]+64 >= uint64(i) })
		}
	}
	wait(t, "frames to be dropped", func() bool { return r.dropped(dropTunnelQueue) > 0 })
	last, got := int64(-1), 0
	for last != n-1 {
		b := slow.next(patience)
		if b == nil {
			t.Fatalf("the newest frame did not arrive, the last is %d", last)
		}
		i := int64(binary.LittleEndian.Uint32(b[rendezvous.DataOverhead:]))
		if i <= last {
			t.Fatalf("%d after %d", i, last)
		}
		last, got = i, got+1
	}
	if dropped := int(r.dropped(dropTunnelQueue)); got+dropped != n {
		t.Fatalf("%d arrived and %d were dropped of %d", got, dropped, n)
	}
	// Now it stops reading for good.
	for range 3 * n {
		host.send(rendezvous.AppendData(nil, 9, payload))
		if r.tunnels.open.Load() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("a client that does not read keeps its tunnel")
}

// The buckets are those of a side, whatever it comes by.
func TestTunnelBuckets(t *testing.T) {
	r := start(t, Config{Limits: Limits{PacketsPerSec: 20, BytesPerSec: 98304}})
	hk, jk := r.token(rendezvous.SideHost, 9, 1), r.token(rendezvous.SideJoin, 9, 1)
	host, join := r.tunnel(t), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(hk)
	join.bind(jk)
	start := time.Now()
	for range 60 {
		host.send(rendezvous.AppendData(nil, 9, []byte("x")))
	}
	wait(t, "all to be decided", func() bool { return r.tunnels.received[kindData].Load() == 60 })
	took := time.Since(start)
	forwarded, dropped := r.totals().sent[kindData], r.dropped(dropDataPackets)
	if forwarded+dropped != 60 || dropped == 0 || float64(forwarded) > 20+20*took.Seconds()+1 {
		t.Fatalf("%d forwarded, %d dropped in %v", forwarded, dropped, took)
	}
	// TCP was made to wait: the excess cost the relay a twentieth of a second each.
	if took < time.Duration(dropped)*time.Second/20*9/10 {
		t.Fatalf("%d frames too many were taken within %v", dropped, took)
	}
}

// Who may open a tunnel: as for the lobby.
func TestTunnelOriginTokenCrowd(t *testing.T) {
	r := start(t, Config{Token: "s3cret"})
	auth := http.Header{"Authorization": {"Bearer s3cret"}}
	for name, x := range map[string]struct {
		header http.Header
		want   int
	}{
		"none": {nil, 401}, "wrong": {http.Header{"Authorization": {"Bearer x"}}, 401},
		"origin": {http.Header{"Authorization": {"Bearer s3cret"}, "Origin": {"null"}}, 403}, "right": {auth, 101},
	} {
		_, resp, err := dialTunnel(t, r, "127.3.0.1", x.header)
		if resp == nil || resp.StatusCode != x.want {
			t.Errorf("%s: %v %v, want %d", name, resp, err, x.want)
		}
	}
	for i := range 9 {
		_, resp, err := dialTunnel(t, r, "127.4.0.1", auth)
		if i < 8 && err != nil {
			t.Fatal(err)
		}
		if i == 8 && (resp == nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "") {
			t.Fatalf("the ninth tunnel: %v %v", resp, err)
		}
	}
}

// A draining relay takes the tunnel of a running match, because UDP may have been cut off just now.
func TestTunnelWhileDraining(t *testing.T) {
	r := startAt(t, Config{DrainLimit: time.Hour, Limits: manyPeers})
	_, _, hs, js := meet(t, r)
	host := dialUDP(t, r.addr, "127.0.0.1")
	host.bind(tokenOf(&hs))
	r.stop()
	wait(t, "the drain", func() bool { return r.state.Load() == stateDraining })
	join := r.tunnel(t)
	join.bind(tokenOf(&js))
	carry(t, hs.Channel, host, join)
	carry(t, hs.Channel, join, host)
}

// Whatever a tunnel carries, nothing is stored without a right tag, nothing goes to anybody but its own client, and the tunnel
// either goes on or ends.
func FuzzTunnelFrame(f *testing.F) {
	set, err := Config{}.check()
	if err != nil {
		f.Fatal(err)
	}
	fwd := newForwarder(&set, newSecret([32]byte{1}), newClock(newFakeTime().now))
	reg := rendezvous.Reg{Channel: 5, Lobby: rendezvous.LobbyID{1}, Expiry: ^uint32(0), Counter: 1}
	wrong := rendezvous.RegKey{1}
	f.Add(rendezvous.AppendReg(nil, &reg, &wrong), false)
	f.Add(rendezvous.AppendReg(nil, &reg, &wrong), true)
	f.Add(dataFrame(10), true)
	f.Add([]byte{rendezvous.FrameData, 1}, true)
	f.Add(appendStunRequest(nil, [12]byte{}, 128), false)
	f.Fuzz(func(t *testing.T, b []byte, bound bool) {
		if len(b) == 0 || len(b) > rendezvous.MaxFrame {
			return // never handed on
		}
		stats := &tunnelStats{}
		p := &tunnel{f: fwd, name: stats.newName(), stats: stats, queue: newFrameQueue(), kill: func() {}, bound: bound, channel: pairChannel}
		kept := bytes.Clone(b)
		err := p.frame(t.Context(), b)
		if !bytes.Equal(b, kept) {
			t.Fatal("the frame was changed")
		}
		if n, _ := fwd.table.count(fwd.clock.mono(), 0); n != 0 || p.queue.size != 0 || p.bound != bound {
			t.Fatalf("%x made %d sessions and %d bytes of answers", b, n, p.queue.size)
		}
		if err == nil && (!bound || b[0] == rendezvous.FrameData && binary.LittleEndian.Uint32(b[1:]) != pairChannel) {
			t.Fatalf("%x keeps the tunnel open", b)
		}
	})
}
