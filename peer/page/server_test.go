package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a running server with a clock the test moves.
type fixture struct {
	*Server
	t     *testing.T
	clock atomic.Int64
}

func serve(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t}
	f.clock.Store(1)
	s, err := New(Config{Addr: "127.0.0.1:0", Build: "test", Now: f.clock.Load, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	done := make(chan error, 1)
	go func() { done <- s.Run() }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) addr() string   { return f.listener.Addr().String() }
func (f *fixture) origin() string { return "http://" + f.addr() }

func (f *fixture) get(path string, change func(*http.Request)) *http.Response {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.origin()+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestGuardRefusesStrangers(t *testing.T) {
	f := serve(t)
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"own page", nil, 200},
		{"localhost", func(r *http.Request) { r.Host = "LocalHost" + r.Host[strings.LastIndexByte(r.Host, ':'):] }, 200},
		{"own origin", func(r *http.Request) { r.Header.Set("Origin", f.origin()) }, 200},
		{"foreign host", func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"rebound name", func(r *http.Request) { r.Host = "evil.example" + r.Host[strings.LastIndexByte(r.Host, ':'):] }, 421},
		{"other port", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421},
		{"no port", func(r *http.Request) { r.Host = "127.0.0.1" }, 421},
		{"foreign origin", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"opaque origin", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"https origin", func(r *http.Request) { r.Header.Set("Origin", "https://"+f.addr()) }, 403},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{f.origin(), "http://evil.example"} }, 403},
		{"frame", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }, 403},
		{"object", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "object") }, 403},
		{"post", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"delete", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := f.get("/", tt.change)
			if resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.want)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
				"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if got := resp.Header.Get(name); !strings.Contains(got, want) {
					t.Errorf("%s is %q", name, got)
				}
			}
		})
	}
}

func TestFilesAndNothingElse(t *testing.T) {
	f := serve(t)
	for path, want := range map[string]int{"/": 200, "/data.json": 200, "/missing": 404, "/web/": 404, "/../doc.go": 404, "/%2e%2e/doc.go": 404, "/ws": 403} {
		resp := f.get(path, nil)
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
}

func TestStaticDataNamesEverything(t *testing.T) {
	f := serve(t)
	b, err := io.ReadAll(f.get("/data.json", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Buttons, Phases, Actions, Events, Codes, Rulesets, Formats []string
		Fighters                                                   []struct {
			Key   string
			Moves []struct {
				ID, Startup, Active, Recovery, Total int
				Hits                                 []struct {
					Frames [2]int
					Box    [4]float64
				}
			}
		}
		Feel struct{ ID string }
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Buttons) != 12 || len(d.Phases) != 8 || len(d.Actions) < 20 || len(d.Events) < 20 || len(d.Codes) < 10 || len(d.Formats) == 0 || len(d.Fighters) < 2 || len(d.Rulesets) == 0 {
		t.Fatalf("too little: %.300s", b)
	}
	for _, fighter := range d.Fighters {
		for _, m := range fighter.Moves {
			if m.Startup+m.Active+m.Recovery != m.Total {
				t.Errorf("%s move %d: %d+%d+%d is not %d", fighter.Key, m.ID, m.Startup, m.Active, m.Recovery, m.Total)
			}
			for _, h := range m.Hits {
				if h.Frames[0] < 1 || h.Frames[1] < h.Frames[0] || h.Box[2] <= 0 {
					t.Errorf("%s move %d: hit %+v", fighter.Key, m.ID, h)
				}
			}
		}
	}
	if d.Feel.ID != "GameFeel.Catalog.V2" { // FEEL-12
		t.Errorf("feel catalogue %q", d.Feel.ID)
	}
}

func TestOnlyLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:80", ":0", "example.org:80", "127.0.0.1", ""} {
		if s, err := New(Config{Addr: addr, Now: func() int64 { return 1 }}); err == nil {
			s.Close()
			t.Errorf("%q was served", addr)
		}
	}
}

// page is a test's browser tab.
type browser struct {
	ws *websocket.Conn
	t  *testing.T
}

func (f *fixture) dial() *browser {
	f.t.Helper()
	ws, _, err := websocket.Dial(f.t.Context(), "ws://"+f.addr()+"/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Origin": {f.origin()}}, Subprotocols: []string{subProtocol}})
	if err != nil {
		f.t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	f.t.Cleanup(func() { ws.CloseNow() })
	return &browser{ws, f.t}
}

func (b *browser) send(msg []byte) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Second)
	defer cancel()
	// A refused connection is what some tests want; the next read says so.
	_ = b.ws.Write(ctx, websocket.MessageBinary, msg)
}

func (b *browser) hello(token, tab, mode string) {
	b.t.Helper()
	b.send(append([]byte{inHello}, fmt.Sprintf(`{"token":%q,"tab":%q,"mode":%q}`, token, tab, mode)...))
}

func (b *browser) read() ([]byte, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Second)
	defer cancel()
	_, msg, err := b.ws.Read(ctx)
	return msg, err
}

// until reads messages up to one of a type.
func (b *browser) until(want byte) []byte {
	b.t.Helper()
	for {
		msg, err := b.read()
		if err != nil {
			b.t.Fatalf("waiting for message %02x: %v", want, err)
		}
		if msg[0] == want {
			return msg
		}
	}
}

// closed reads to the end and gives the close code.
func (b *browser) closed() websocket.StatusCode {
	for {
		if _, err := b.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

const tabA, tabB = "00112233445566aa", "00112233445566bb"

func TestTokenAndTabs(t *testing.T) {
	t.Run("wrong token", func(t *testing.T) {
		f := serve(t)
		for _, token := range []string{"", "0", strings.Repeat("0", 32), f.token[:31], f.token + "0"} {
			b := f.dial()
			b.hello(token, tabA, "play")
			if code := b.closed(); code != closeToken {
				t.Errorf("token %q: code %d", token, code)
			}
		}
	})
	t.Run("malformed hello", func(t *testing.T) {
		f := serve(t)
		for _, msg := range []string{"\x02\x00\x00\x00\x00\x00\x00", "\x01", "\x01[]", "\x01{\"token\":1}", "\x01{\"tokem\":\"\"}", "\x01{} {}",
			"\x01{\"token\":\"" + f.token + "\",\"tab\":\"x\",\"mode\":\"play\"}", "\x01{\"token\":\"" + f.token + "\",\"tab\":\"" + tabA + "\",\"mode\":\"own\"}"} {
			b := f.dial()
			b.send([]byte(msg))
			if code := b.closed(); code != closeMalformed {
				t.Errorf("%q: code %d", msg, code)
			}
		}
	})
	t.Run("foreign origin cannot dial", func(t *testing.T) {
		f := serve(t)
		for _, origin := range []string{"", "http://evil.example", "null"} {
			h := http.Header{}
			if origin != "" {
				h.Set("Origin", origin)
			}
			ws, resp, err := websocket.Dial(t.Context(), "ws://"+f.addr()+"/ws", &websocket.DialOptions{HTTPHeader: h})
			if err == nil {
				ws.CloseNow()
				t.Errorf("origin %q was let in", origin)
			} else if resp == nil || resp.StatusCode != 403 {
				t.Errorf("origin %q: %v", origin, err)
			}
		}
	})
	t.Run("second tab", func(t *testing.T) {
		f := serve(t)
		a := f.dial()
		a.hello(f.token, tabA, "play")
		a.until(outWelcome)
		b := f.dial()
		b.hello(f.token, tabB, "play")
		if code := b.closed(); code != closeElsewhere {
			t.Errorf("the token was good twice: code %d", code)
		}
		v := f.dial()
		v.hello(f.token, tabB, "view")
		if w := string(v.until(outWelcome)); !strings.Contains(w, `"viewer"`) {
			t.Errorf("welcome %s", w)
		}
		v.send([]byte{inInput, 0x0f, 0, 0, 0, 1, 0})
		v.send(append([]byte{inCommand}, `{"cmd":"quit"}`...))
		f.Notice("info", "still here")
		v.until(outNotice)
		if w := f.Words().Take(0); w != 0 {
			t.Errorf("a viewer pressed %03x", w)
		}
		select {
		case c := <-f.Commands():
			t.Errorf("a viewer commanded %+v", c)
		default:
		}
		c := f.dial()
		c.hello(f.token, tabB, "take")
		c.until(outWelcome)
		if code := a.closed(); code != closeTaken {
			t.Errorf("the first tab ended with %d", code)
		}
	})
	t.Run("reload", func(t *testing.T) {
		f := serve(t)
		f.Show(&Screen{Title: &Title{Version: "1"}})
		a := f.dial()
		a.hello(f.token, tabA, "play")
		a.until(outScreen)
		again := f.dial()
		again.hello(f.token, tabA, "play")
		if s := string(again.until(outScreen)); !strings.Contains(s, `"screen":"title"`) {
			t.Errorf("screen %s", s)
		}
	})
}

// A connection that says nothing is told so when it is closed.
func TestSilentTab(t *testing.T) {
	f := serve(t)
	f.greeting = 50 * time.Millisecond
	if code := f.dial().closed(); code != closeNoHello {
		t.Errorf("close code %d, want %d", code, closeNoHello)
	}
}

func TestHostileMessages(t *testing.T) {
	f := serve(t)
	big := append([]byte{inUpload}, make([]byte, maxUpload)...)
	for _, tt := range []struct {
		name string
		msg  []byte
		want websocket.StatusCode
	}{
		{"empty", []byte{}, closeMalformed},
		{"unknown type", []byte{99}, closeMalformed},
		{"short input", []byte{inInput, 0}, closeMalformed},
		{"reserved bit", []byte{inInput, 0, 0x10, 0, 0, 0, 0}, closeMalformed},
		{"unknown command", append([]byte{inCommand}, `{"cmd":"rm"}`...), closeMalformed},
		{"unknown field", append([]byte{inCommand}, `{"cmd":"host","x":1}`...), closeMalformed},
		{"two values", append([]byte{inCommand}, `{"cmd":"host"}{}`...), closeMalformed},
		{"deep", append([]byte{inCommand}, strings.Repeat("[", 4000)...), closeMalformed},
		{"not UTF-8", append([]byte{inCommand}, "{\"cmd\":\"join\",\"code\":\"\xff\"}"...), closeMalformed},
		{"oversized", big, websocket.StatusMessageTooBig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := f.dial()
			b.hello(f.token, tabA, "play")
			b.until(outWelcome)
			b.send(tt.msg)
			if code := b.closed(); code != tt.want {
				t.Errorf("code %d, want %d", code, tt.want)
			}
		})
	}
}

func TestFloodEnds(t *testing.T) {
	f := serve(t)
	b := f.dial()
	b.hello(f.token, tabA, "play")
	b.until(outWelcome)
	for range messageRate + 10 {
		b.send([]byte{inInput, 0, 0, 0, 0, 0, 0})
	}
	if code := b.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("code %d", code)
	}
}

func TestInputIsReleasedWhenTheTabEnds(t *testing.T) {
	f := serve(t)
	b := f.dial()
	b.hello(f.token, tabA, "play")
	b.until(outWelcome)
	b.send([]byte{inInput, 0x18, 0, 0, 0, 7, 0})
	eventually(t, func() bool { return f.Words().Take(0) == 0x18 })
	if f.Words().Seq() != 7 {
		t.Errorf("seq %d", f.Words().Seq())
	}
	b.ws.CloseNow()
	eventually(t, func() bool { return f.Words().Take(0) == 0 })
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not come about in 5 s")
}

// A tab that never reads gets nothing and holds nobody up: every snapshot is
// taken, most are replaced, and none costs an allocation.
func TestTabThatNeverReads(t *testing.T) {
	f := serve(t)
	conn, err := net.Dial("tcp", f.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
		f.addr(), f.origin(), subProtocol)
	_, _ = conn.Write(frame(append([]byte{inHello}, fmt.Sprintf(`{"token":%q,"tab":%q,"mode":"play"}`, f.token, tabA)...)))
	eventually(t, func() bool { now, _, _ := f.Connected(); return now })
	snap := testSnapshot()
	f.mu.Lock()
	box := f.player.box
	f.mu.Unlock()
	stuck := func() bool {
		for range 5000 {
			f.Snapshot(snap)
		}
		time.Sleep(10 * time.Millisecond) // a writer that can write has taken it by then
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.fresh[outSnapshot] && box.eventN == maxEvents
	}
	// Until the buffers of the sockets are full and the writer waits.
	for n := 0; n < 3; {
		if n++; !stuck() {
			n = 0
		}
	}
	if n := testing.AllocsPerRun(200, func() { f.Snapshot(snap) }); n != 0 {
		t.Errorf("%v allocations a snapshot", n)
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.replaced < 20_000 || !box.fresh[outSnapshot] {
		t.Errorf("%d snapshots replaced", box.replaced)
	}
}

// frame masks a small client message.
func frame(b []byte) []byte {
	out := []byte{0x82, 0x80 | 126, byte(len(b) >> 8), byte(len(b)), 0, 0, 0, 0}
	return append(out, b...)
}
