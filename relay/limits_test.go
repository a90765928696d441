package relay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/coder/websocket"
)

// Attack case 2: a thousand runs that stop after SHARE_A. No guess is counted, an honest joiner gets in, memory is flat.
func TestCase02UnfinishedRuns(t *testing.T) {
	l := manyPeers
	l.MessagesPerSec, l.RunsPerSource = 1e6, 1
	r := start(t, Config{Limits: l})
	host := r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	bad := make([]*player, 4)
	spoil := func(n int) {
		for i := range n {
			from := fmt.Sprintf("127.0.%d.1", i%len(bad)+1)
			if bad[i%len(bad)] == nil {
				bad[i%len(bad)] = r.playerFrom(t, from)
			}
			p := bad[i%len(bad)]
			p.join(code.Lookup)
			pass(t, host, p, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: host.run().Run}))
			// It never answers and starts over.
			p.ws.CloseNow()
			bad[i%len(bad)] = nil
		}
	}
	spoil(20)
	heap := heapNow()
	spoil(980)
	if grown := int64(heapNow()) - int64(heap); grown > 8<<20 {
		t.Fatalf("the heap grew by %d bytes", grown)
	}
	if n := r.hub.count.guesses.Load(); n != 0 {
		t.Fatalf("%d guesses counted", n)
	}
	honest := r.playerFrom(t, "127.0.9.1")
	honest.join(code.Lookup)
	take(t, host, honest)
}

// The same with the limits as they are: a source that starts runs as fast as it can costs the host neither its connection nor
// the honest joiner's turn.
func TestCase02RunFlood(t *testing.T) {
	r := startAt(t, Config{})
	host := r.playerFrom(t, "127.1.0.1")
	code := host.host(rendezvous.ResumeToken{})
	now := r.clock.mono()
	var answers int
	flood := func(n int) {
		for range n {
			c := &client{addr: netip.MustParseAddr("127.2.0.1"), source: netip.MustParsePrefix("127.2.0.0/24"), idle: now,
				out: make(chan []byte, 4), fin: make(chan struct{}), kill: func() {}, slow: new(atomic.Uint64)}
			r.hub.message(r.clock.mono(), c, rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: 1, Lookup: code.Lookup}))
			for c.run != nil {
				host.send(rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: host.run().Run}))
				answers++
				wait(t, "the share", func() bool { return len(c.out) > 0 })
				break
			}
		}
	}
	for range 10 {
		flood(100)
		r.time.advance(time.Second)
	}
	if answers < 20 || answers > 50 {
		t.Fatalf("the host answered %d runs in ten seconds", answers)
	}
	honest := r.playerFrom(t, "127.3.0.1")
	honest.join(code.Lookup)
	take(t, host, honest)
}

// A second attempt from the same source does not end the one whose guess the host has: both would lose the match, and the host
// its code.
func TestGuessedRunIsNotDisplaced(t *testing.T) {
	r := startAt(t, Config{Limits: Limits{RunStarts: 1000}})
	host, first, second := r.playerFrom(t, "127.1.0.1"), r.playerFrom(t, "127.1.1.1"), r.playerFrom(t, "127.1.1.2")
	code := host.host(rendezvous.ResumeToken{})
	first.join(code.Lookup)
	run := host.run().Run
	pass(t, host, first, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run, AD: []byte("HADA")}))
	pass(t, first, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run, AD: []byte("JADB")}))
	second.join(code.Lookup)
	second.refused(rendezvous.CodeBusy)
	pass(t, host, first, rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: run}))
	host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run}))
	if hs, js := host.session(), first.session(); hs.Channel != js.Channel {
		t.Errorf("channels %v and %v", hs.Channel, js.Channel)
	}
	second.join(code.Lookup)
	second.refused(rendezvous.CodeFull)
}

// Four open runs a lobby, one a source; a fifth ends the oldest; ten seconds each.
func TestRunLimits(t *testing.T) {
	r := startAt(t, Config{Limits: Limits{RunStarts: 1000}})
	host := r.playerFrom(t, "127.1.0.1")
	code := host.host(rendezvous.ResumeToken{})
	join := func(net int) *player {
		p := r.playerFrom(t, fmt.Sprintf("127.1.%d.1", net))
		p.join(code.Lookup)
		host.run()
		return p
	}
	one, two := join(1), join(2)
	again := join(1)
	one.refused(rendezvous.CodeRunEnded)
	join(3)
	join(4)
	join(5)
	two.refused(rendezvous.CodeRunEnded) // the oldest of the four
	if n := r.hub.gauges().runs; n != 4 {
		t.Fatalf("%d open runs", n)
	}
	r.time.advance(10 * time.Second)
	r.hub.sweep(r.clock.mono())
	again.refused(rendezvous.CodeRunEnded)
	if n := r.hub.gauges().runs; n != 0 {
		t.Fatalf("%d open runs after ten seconds", n)
	}
}

// A run in which the joiner has answered is not the one that makes room.
func TestConfirmedRunIsNotPushedOut(t *testing.T) {
	r := start(t, Config{Limits: Limits{RunStarts: 1000}})
	host := r.playerFrom(t, "127.1.0.1")
	code := host.host(rendezvous.ResumeToken{})
	honest := r.playerFrom(t, "127.1.1.1")
	honest.join(code.Lookup)
	run := host.run().Run
	pass(t, host, honest, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run}))
	pass(t, honest, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run}))
	for i := 2; i < 8; i++ {
		p := r.playerFrom(t, fmt.Sprintf("127.1.%d.1", i))
		p.join(code.Lookup)
		host.run()
	}
	pass(t, host, honest, rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: run}))
	host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run}))
	host.session()
	honest.session()
}

// Attack case 6: a scan of lookups from one /24 gets ten tries, then one a minute; right lookups are not told from wrong
// ones meanwhile; another source is not affected.
func TestCase06LookupScan(t *testing.T) {
	r := startAt(t, Config{Limits: Limits{ConnsPerSource: 50}})
	host := r.playerFrom(t, "127.1.0.1")
	code := host.host(rendezvous.ResumeToken{})
	unknown := code.Lookup
	if unknown[0]++; !unknown.Valid() {
		unknown[0] = '2'
	}
	scan := r.playerFrom(t, "127.2.0.1")
	for range 10 {
		scan.join(unknown)
		scan.refused(rendezvous.CodeUnknown)
	}
	for _, l := range []rendezvous.Lookup{unknown, code.Lookup} {
		p := r.playerFrom(t, "127.2.0.99")
		p.join(l)
		if m := p.refused(rendezvous.CodeSlowDown); m.Retry < 1 || m.Retry > 60 {
			t.Fatalf("retry after %d s", m.Retry)
		}
	}
	other := r.playerFrom(t, "127.3.0.1")
	other.join(code.Lookup)
	host.run()
	r.time.advance(time.Minute)
	last := r.playerFrom(t, "127.2.0.1")
	last.join(unknown)
	last.refused(rendezvous.CodeUnknown)
	last.join(unknown)
	last.refused(rendezvous.CodeSlowDown)
}

// Failed guesses are charged to the joiner's source like failed lookups, and all sources share 50 a second.
func TestGuessBudgets(t *testing.T) {
	r := startAt(t, Config{Limits: Limits{ConnsPerSource: 100, GuessesPerSec: 3}})
	host := r.playerFrom(t, "127.1.0.1")
	code := host.host(rendezvous.ResumeToken{})
	guess := func(p *player) {
		p.join(code.Lookup)
		run := host.run().Run
		pass(t, host, p, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run}))
		pass(t, p, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run}))
		pass(t, host, p, rendezvous.AppendFail(nil, &rendezvous.FailMsg{Run: run}))
	}
	for i := range 10 {
		p := r.playerFrom(t, "127.2.0.1")
		guess(p)
		r.time.advance(400 * time.Millisecond)
		if i == 9 {
			p.join(code.Lookup)
			p.refused(rendezvous.CodeSlowDown)
		}
	}
	r.time.advance(10 * time.Second)
	for i := range 3 {
		guess(r.playerFrom(t, fmt.Sprintf("127.3.%d.1", i)))
	}
	p := r.playerFrom(t, "127.3.9.1")
	p.join(code.Lookup)
	if m := p.refused(rendezvous.CodeBusy); m.Retry != 1 {
		t.Fatalf("retry after %d s", m.Retry)
	}
	r.time.advance(time.Second)
	p.join(code.Lookup)
	host.run()
}

func TestSourceLimits(t *testing.T) {
	r := start(t, Config{})
	var hosts []*player
	var codes []rendezvous.CodeMsg
	for range 4 {
		p := r.player(t)
		hosts, codes = append(hosts, p), append(codes, p.host(rendezvous.ResumeToken{}))
	}
	fifth := r.player(t)
	fifth.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1}))
	if m := fifth.refused(rendezvous.CodeLobbies); m.Retry == 0 {
		t.Fatal("no time to wait")
	}
	elsewhere := r.playerFrom(t, "127.5.0.1")
	elsewhere.host(rendezvous.ResumeToken{})
	for range 3 {
		r.player(t)
	}
	_, resp, err := dialLobby(t, r, "127.0.0.1", nil)
	if err == nil || resp == nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("the ninth connection: %v %v", resp, err)
	}
	// A host that crashed takes the place of its own ghost.
	wait(t, "all to be in", func() bool { return r.hub.gauges().conns == 9 })
	hosts[2].ws.CloseNow()
	wait(t, "the relay to notice", func() bool { return r.hub.gauges().conns == 8 })
	fifth.host(rendezvous.ResumeToken{})
	join := r.playerFrom(t, "127.6.0.1")
	join.join(codes[2].Lookup)
	join.refused(rendezvous.CodeUnknown)
	if g := r.hub.gauges(); g.open != 5 {
		t.Fatalf("%d lobbies", g.open)
	}
}

func TestOriginAndToken(t *testing.T) {
	r := start(t, Config{Token: "s3cret", Limits: manyPeers})
	auth := func(v string) http.Header { return http.Header{"Authorization": {v}} }
	for name, x := range map[string]struct {
		header http.Header
		want   int
	}{
		"origin":       {http.Header{"Origin": {"http://" + r.addr.String()}, "Authorization": {"Bearer s3cret"}}, 403},
		"origin empty": {http.Header{"Origin": {""}, "Authorization": {"Bearer s3cret"}}, 403},
		"none":         {nil, 401}, "wrong": {auth("Bearer s3creT"), 401}, "prefix": {auth("Bearer s3cre"), 401},
		"longer": {auth("Bearer s3cret1"), 401}, "scheme": {auth("Basic s3cret"), 401}, "empty": {auth("Bearer "), 401},
		"right": {auth("Bearer s3cret"), 101}, "lower case scheme": {auth("bearer s3cret"), 101},
	} {
		_, resp, err := dialLobby(t, r, "127.0.0.1", x.header)
		if resp == nil || resp.StatusCode != x.want {
			t.Errorf("%s: %v %v, want %d", name, resp, err, x.want)
		}
	}
	if n := r.hub.count.denied.Load(); n != 6 {
		t.Errorf("%d denied", n)
	}
}

func TestStunOnly(t *testing.T) {
	r := start(t, Config{StunOnly: true})
	p := r.player(t)
	p.refused(rendezvous.CodeStunOnly)
	p.closed()
	u := dialUDP(t, r.addr, "127.0.0.1")
	r.silent(t, u, r.token(0, 1, 1).frame(), dropStunOnly)
	r.silent(t, u, dataFrame(10), dropStunOnly)
	id := [12]byte{3}
	u.send(appendStunRequest(nil, id, 64))
	mappedOf(t, u.next(patience), id)
}

// Attack case 7: a message of 1 MB, a byte now and then, a reader that never reads, connections that say nothing. Each is
// closed; memory stays bounded; another lobby is unharmed.
func TestCase07Hostile(t *testing.T) {
	l := manyPeers
	l.HeaderTimeout, l.WriteTimeout = 600*time.Millisecond, 600*time.Millisecond
	r := start(t, Config{Limits: l})
	host := r.player(t)
	code := host.host(rendezvous.ResumeToken{})

	t.Run("large message", func(t *testing.T) {
		p := r.player(t)
		p.ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20))
		if _, err := p.next(); websocket.CloseStatus(err) != websocket.StatusMessageTooBig && err == nil {
			t.Fatal("still open")
		}
	})
	t.Run("too many messages", func(t *testing.T) {
		p := r.player(t)
		p.host(rendezvous.ResumeToken{})
		var last []byte
		for range 20 {
			p.ws.Write(t.Context(), websocket.MessageBinary, rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1}))
		}
		codes := 1
		for {
			b, err := p.next()
			if err != nil {
				break
			}
			if last = b; b[0] == byte(rendezvous.TypeCode) {
				codes++
			}
		}
		var m rendezvous.ErrorMsg
		if rendezvous.ParseError(last, &m) != nil || m.Code != rendezvous.CodeSlowDown || codes < 16 || codes > 18 {
			t.Fatalf("%d codes, then %x", codes, last)
		}
	})
	t.Run("pings", func(t *testing.T) {
		c, _ := rawLobby(t, r)
		frame := []byte{0x89, 0x80, 1, 2, 3, 4} // masked, empty
		c.SetDeadline(time.Now().Add(3 * time.Second))
		for range 200 {
			if _, err := c.Write(frame); err != nil {
				break
			}
		}
		n, err := io.Copy(io.Discard, c)
		if ne, ok := err.(net.Error); ok && ne.Timeout() || n > 64 {
			t.Fatalf("%d bytes of pongs, %v", n, err)
		}
	})
	t.Run("slow header", func(t *testing.T) {
		c := rawTCP(t, r)
		start := time.Now()
		for _, b := range []byte("GET /lobby HTTP/1.1\r\nX: " + strings.Repeat("a", 1000)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			if time.Sleep(15 * time.Millisecond); time.Since(start) > patience {
				t.Fatal("still open")
			}
		}
	})
	t.Run("slow message", func(t *testing.T) {
		c, _ := rawLobby(t, r)
		c.Write([]byte{0x82, 0x80 | 100, 1, 2, 3, 4, 5}) // one byte of a hundred
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("still open")
		}
	})
	t.Run("says nothing", func(t *testing.T) {
		p := r.player(t)
		p.closed()
	})
	t.Run("proxy", func(t *testing.T) {
		for _, request := range []string{
			"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
			"GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
			"POST /lobby HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		} {
			c := rawTCP(t, r)
			io.WriteString(c, request)
			if b, _ := io.ReadAll(c); !bytes.HasPrefix(b, []byte("HTTP/1.1 40")) {
				t.Errorf("%q: %.60q", request, b)
			}
		}
	})
	t.Run("large header", func(t *testing.T) {
		c := rawTCP(t, r)
		fmt.Fprintf(c, "GET /lobby HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("a", 20<<10))
		b, _ := io.ReadAll(c)
		if !bytes.Contains(b, []byte(" 431 ")) && len(b) > 0 {
			t.Fatalf("%s", b)
		}
	})
	join := r.player(t)
	join.join(code.Lookup)
	host.run()
}

// A joiner that never reads loses its connection; the host's messages to it do not pile up.
func TestCase07NeverReads(t *testing.T) {
	l := manyPeers
	l.MessagesPerSec, l.WriteTimeout = 1e6, 200*time.Millisecond
	r := start(t, Config{Limits: l})
	host, join := r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	join.join(code.Lookup)
	hs, _ := take(t, host, join)
	box := rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: hs.Run, Box: make([]byte, 4000)})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	sent := 0
	for r.hub.count.slow.Load() == 0 && host.ws.Write(ctx, websocket.MessageBinary, box) == nil {
		sent += len(box)
	}
	if r.hub.count.slow.Load() == 0 || sent > 64<<20 {
		t.Fatalf("%d bytes went to a reader that does not read", sent)
	}
	host.refused(rendezvous.CodeGone)
}

// Attack case 7: a crowd of connections from one source is closed at the door, and costs nobody else anything.
func TestCase07Crowd(t *testing.T) {
	r := start(t, Config{Limits: Limits{MaxConns: 40, HeaderTimeout: time.Minute}})
	crowd := func(from string, n int) {
		for range n {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			if c, err := d.Dial("tcp", r.addr.String()); err == nil {
				t.Cleanup(func() { c.Close() })
			}
		}
	}
	before := runtime.NumGoroutine()
	crowd("127.7.0.1", 60)
	wait(t, "36 to be refused", func() bool { return r.hub.count.crowded.Load() == 36 })
	if n := r.count.now(); n != 24 {
		t.Fatalf("%d connections of one source stand", n)
	}
	if n := runtime.NumGoroutine(); n > before+2*24+8 {
		t.Fatalf("%d goroutines, before %d", n, before)
	}
	p := r.playerFrom(t, "127.8.0.1")
	p.host(rendezvous.ResumeToken{})
	for i := range 3 {
		crowd(fmt.Sprintf("127.9.%d.1", i), 16)
	}
	wait(t, "33 more to be refused", func() bool { return r.hub.count.crowded.Load() == 36+33 })
	if n := r.count.now(); n != 40 {
		t.Fatalf("%d connections in all", n)
	}
	p.host(rendezvous.ResumeToken{}) // the lobby that stood before still answers
}

func rawTCP(t *testing.T, r *running) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// rawLobby is a WebSocket whose frames the test writes by itself.
func rawLobby(t *testing.T, r *running) (net.Conn, []byte) {
	t.Helper()
	c := rawTCP(t, r)
	fmt.Fprintf(c, "GET /lobby HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	b := make([]byte, 1024)
	n, err := c.Read(b)
	if err != nil || !bytes.HasPrefix(b[:n], []byte("HTTP/1.1 101")) {
		t.Fatalf("%s %v", b[:n], err)
	}
	return c, b[:n]
}
