package peer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/peer/page"
	"backstep/relay"
	"backstep/sim"
)

// lines hands on what a peer prints, by first word.
type lines struct {
	seen map[string]chan string
}

func newLines() *lines {
	return &lines{seen: map[string]chan string{"page": make(chan string, 8), "lobby": make(chan string, 8)}}
}

func (l *lines) Write(b []byte) (int, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	if c := l.seen[word]; c != nil {
		c <- rest
	}
	return len(b), nil
}

var _ io.Writer = (*lines)(nil)

func testEmbed(ctx context.Context, listen string) (Embedded, error) {
	s, err := relay.New(relay.Config{Listen: []string{listen}, DrainLimit: -1, Log: zerolog.Nop()})
	if err != nil {
		return Embedded{}, err
	}
	rctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(rctx) }()
	return Embedded{Port: s.Addrs()[0].Port(), Close: func() { cancel(); _ = s.Close(); <-done }}, nil
}

// player is a peer with a page, and the test in the browser's place.
type player struct {
	t      *testing.T
	ws     *websocket.Conn
	ended  chan error
	cancel context.CancelFunc
	shots  int // snapshots seen
	last   []byte
	queue  []screen // read and not asked for yet
	talk   page.Talk
}

type screen map[string]json.RawMessage

func (s screen) name() string {
	var n string
	_ = json.Unmarshal(s["screen"], &n)
	return n
}

func (s screen) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(s[s.name()], v); err != nil {
		t.Fatal(err)
	}
}

func testConfig(t *testing.T) Config {
	def := sim.DefaultConfig()
	return Config{Page: &PageConfig{Addr: "127.0.0.1:0", Browser: page.NoBrowser}, DataDir: t.TempDir(), Input: "page", Window: 8, AutoDelay: true, AutoMode: true,
		Paths: natpunch.AllowAuto, FEC: fec.Off, Rounds: 2, Ruleset: def.Ruleset, Team: def.Teams[0], Timeout: 10 * time.Second, Wait: time.Minute,
		Build: "test", Embed: testEmbed, Log: zerolog.Nop()}
}

func startPlayer(t *testing.T, c Config, start Start) *player {
	t.Helper()
	out := newLines()
	c.Stdout = out
	ctx, cancel := context.WithCancel(t.Context())
	p := &player{t: t, ended: make(chan error, 1), cancel: cancel}
	go func() { p.ended <- RunPage(ctx, c, start) }()
	var url string
	select {
	case url = <-out.seen["page"]:
	case err := <-p.ended:
		t.Fatal(err)
	}
	base, token, _ := strings.Cut(url, "#")
	base = strings.TrimSuffix(base, "/")
	ws, _, err := websocket.Dial(ctx, strings.Replace(base, "http", "ws", 1)+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {base}}, Subprotocols: []string{"backstep.page.1"}})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	p.ws = ws
	p.send(1, fmt.Sprintf(`{"token":%q,"tab":"0011223344556677","mode":"play"}`, token))
	t.Cleanup(func() {
		ws.CloseNow()
		cancel()
	})
	return p
}

func (p *player) send(kind byte, body string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageBinary, append([]byte{kind}, body...)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *player) command(format string, args ...any) {
	p.t.Helper()
	p.send(3, fmt.Sprintf(format, args...))
}

// read gives the next message.
func (p *player) read() []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	_, b, err := p.ws.Read(ctx)
	if err != nil {
		p.t.Fatalf("the page's connection: %v", err)
	}
	switch b[0] {
	case 2:
		var s screen
		if err := json.Unmarshal(b[1:], &s); err != nil {
			p.t.Fatal(err)
		}
		p.queue = append(p.queue, s)
	case 8:
		if err := json.Unmarshal(b[1:], &p.talk); err != nil {
			p.t.Fatal(err)
		}
	case 3:
		p.shots++
		p.last = b
	}
	return b
}

// until reads to a screen that the test likes.
func (p *player) until(name string, ok func(screen) bool) screen {
	p.t.Helper()
	for {
		for len(p.queue) == 0 {
			p.read()
		}
		s := p.queue[0]
		p.queue = p.queue[1:]
		if s.name() == "error" && name != "error" {
			p.t.Fatalf("error screen %s", s["error"])
		}
		if s.name() == name && (ok == nil || ok(s)) {
			return s
		}
	}
}

// said waits for line n of what the players said.
func (p *player) said(n int) page.ChatLine {
	p.t.Helper()
	for {
		for _, l := range p.talk.Lines {
			if l.Number == n {
				return l
			}
		}
		p.read()
	}
}

func (p *player) quit() {
	p.t.Helper()
	p.command(`{"cmd":"quit"}`)
	p.end(nil)
}

func (p *player) end(want error) {
	p.t.Helper()
	select {
	case err := <-p.ended:
		if !errors.Is(err, want) {
			p.t.Errorf("the program ended with %v, want %v", err, want)
		}
	case <-time.After(20 * time.Second):
		p.t.Fatal("the program did not end")
	}
}

type resultScreen struct {
	Hash, Sentence, You, They, Replay string
	CanRematch                        bool `json:"can_rematch"`
}

// Two players meet on their pages by a code, see the forecast, accept, pick,
// fight, and rematch ten times on the same link, each with a new seed and a
// clean world; then one leaves.
func TestTwoPagesAndTenRematches(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	e, err := testEmbed(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c := testConfig(t)
	c.Relays, c.Frames, c.Name = []string{loopback(e.Port)}, 20, "Host\u202e<img onerror=alert(1)>"
	host := startPlayer(t, c, StartTitle)
	c.Name, c.DataDir, c.Relays = "Join", t.TempDir(), nil
	join := startPlayer(t, c, StartJoin)
	join.until("title", func(s screen) bool { return strings.Contains(string(s["title"]), `"join":true`) })

	host.until("title", nil)
	host.command(`{"cmd":"host"}`)
	var h struct {
		Code, Link string
		QR         *page.QR
	}
	host.until("hosting", func(s screen) bool { s.into(t, &h); return h.Code != "" }).into(t, &h)
	if h.QR == nil || !strings.HasPrefix(h.Link, "backstep://join#") {
		t.Errorf("hosting %+v", h)
	}
	join.command(`{"cmd":"join","code":%q}`, strings.ToLower(h.Link))
	var f page.Forecast
	join.until("forecast", func(s screen) bool { s.into(t, &f); return f.Ping != nil && f.Sentence != "" })
	if name := f.Opponent.Name; strings.ContainsRune(name, '\u202e') || len([]rune(name)) > 24 {
		t.Errorf("the opponent's name is %q", name)
	}
	if f.Grade == "" || f.You != "asked" {
		t.Errorf("forecast %+v", f)
	}
	host.until("forecast", nil)
	host.command(`{"cmd":"accept"}`)
	join.command(`{"cmd":"accept"}`)
	both := [2]*player{host, join}
	for _, p := range both {
		p.until("select", nil)
	}
	// They talk, cleaned, in the select and later in the results.
	host.command(`{"cmd":"chat","text":" hi\u202e there\u001b[2J "}`)
	for side, p := range both {
		if line := p.said(1); line != (page.ChatLine{Number: 1, Side: 0, Text: "hi there[2J"}) {
			t.Errorf("side %d reads %+v", side, line)
		}
	}
	// Who picks nobody is not ready.
	host.command(`{"cmd":"pick","team":["nobody"],"ready":true}`)
	for _, p := range both {
		p.command(`{"cmd":"pick","team":["tarn"],"ready":true}`)
	}
	hashes := map[string]bool{}
	for n := range 11 {
		var r [2]resultScreen
		for side, p := range both {
			p.until("fight", func(s screen) bool { return strings.Contains(string(s["fight"]), `"tarn"`) })
			p.until("result", func(s screen) bool { s.into(t, &r[side]); return true })
		}
		if r[0].Hash == "" || r[0].Hash != r[1].Hash || !r[0].CanRematch || r[0].Replay == "" || hashes[r[0].Hash] {
			t.Fatalf("match %d: %+v", n, r)
		}
		hashes[r[0].Hash] = true
		if n == 0 {
			join.command(`{"cmd":"chat","text":"gg"}`)
			for side, p := range both {
				if line := p.said(2); line != (page.ChatLine{Number: 2, Side: 1, Text: "gg"}) {
					t.Errorf("side %d reads %+v", side, line)
				}
			}
		}
		if n < 10 {
			for _, p := range both {
				p.command(`{"cmd":"rematch"}`)
			}
		}
	}
	if host.shots < 20 || join.shots < 20 {
		t.Errorf("%d and %d snapshots", host.shots, join.shots)
	}
	host.command(`{"cmd":"leave"}`)
	host.until("title", nil)
	join.until("result", func(s screen) bool { return strings.Contains(string(s["result"]), `"they":"leave"`) })
	join.command(`{"cmd":"title"}`)
	join.until("title", nil)

	// What was played is in the archive and comes out again.
	join.command(`{"cmd":"replays"}`)
	var list page.Replays
	join.until("replays", nil).into(t, &list)
	if len(list.List) != 11 || list.List[0].Sentence != "" || list.List[0].Frames != 20 {
		t.Fatalf("replays %+v", list)
	}
	join.command(`{"cmd":"open","id":%q}`, list.List[0].ID)
	join.until("theatre", nil)
	join.command(`{"cmd":"theatre","verify":true,"seek":10,"play":false,"boxes":true}`)
	join.until("theatre", func(s screen) bool {
		var v page.Theatre
		s.into(t, &v)
		return v.Verified == "yes" && v.Frame == 10 && !v.Playing
	})
	host.quit()
	join.quit()
	e.Close()
}

// Against the machine: no forecast, no select, a rematch, and leaving in the
// middle of the fight.
func TestSparring(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := testConfig(t)
	c.spar = func(ctx context.Context, codes <-chan string, bot string) error {
		select {
		case text := <-codes:
			code, err := ParseInvite(text)
			if err != nil {
				return err
			}
			o := testConfig(t)
			o.Page, o.AutoDelay, o.AutoMode = nil, false, false
			o.Input, o.Code, o.Relays, o.Rematch, o.Name = "bot:"+bot+":2", code, code.Relays, true, sparringName
			if err := Run(context.WithoutCancel(ctx), o); err != nil && !strings.Contains(err.Error(), "left") {
				return err
			}
		case <-ctx.Done():
		}
		return nil
	}
	p := startPlayer(t, c, StartPlay)
	p.until("fight", func(s screen) bool { return strings.Contains(string(s["fight"]), `"kind":"play"`) })
	// A press reaches the simulation: the fighter's own word shows it.
	p.send(2, "\x10\x00\x00\x00\x07\x00")
	for {
		if p.read(); p.last == nil {
			continue
		}
		current := p.last[100+2*96:]
		if word := binary.LittleEndian.Uint16(current[62:]); word == sim.LightBit && binary.LittleEndian.Uint16(p.last[20:]) == 7 {
			break
		}
	}
	p.command(`{"cmd":"leave"}`)
	p.until("title", nil)
	p.quit()
}

func TestTrainingOnThePage(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := startPlayer(t, testConfig(t), StartTrain)
	p.until("train", nil)
	p.command(`{"cmd":"option","dummy":"guard","boxes":true,"latency_ms":100,"rollback":2}`)
	p.until("train", func(s screen) bool {
		var v page.TrainScreen
		s.into(t, &v)
		return v.Options.Dummy == "guard" && v.Options.Boxes && v.Options.Latency == 100
	})
	for p.last == nil || p.last[32] == 0 || p.last[6] != byte(page.KindTraining) {
		p.read()
	}
	p.command(`{"cmd":"option","dummy":"dancer"}`)
	for {
		if b := p.read(); b[0] == 7 {
			if !strings.Contains(string(b), "does not have this") {
				t.Errorf("notice %s", b)
			}
			break
		}
	}
	p.command(`{"cmd":"leave"}`)
	p.until("title", nil)
	p.send(4, "BSRP this is no replay")
	for {
		if b := p.read(); b[0] == 7 {
			if !strings.Contains(string(b), "cannot be played") {
				t.Errorf("notice %s", b)
			}
			break
		}
	}
	p.until("replays", nil)
	p.quit()
}

// TAGT-16: a team brings its music, whatever the order of its fighters; the page plays it by number.
func TestTeamMusicOnThePage(t *testing.T) {
	p := startPlayer(t, testConfig(t), StartTrain)
	seen := map[[2]uint8]bool{}
	for _, teams := range []string{`[["sable","tarn"],["gorse","vesper"]]`, `[["tarn","sable"],["vesper","gorse"]]`, `[["sable","gorse"],["tarn","vesper"]]`} {
		p.command(`{"cmd":"train","ruleset":"tagteam","format":"2v2","teams":%s}`, teams)
		p.until("train", func(s screen) bool {
			var v page.TrainScreen
			s.into(t, &v)
			b, err := json.Marshal(v.Teams)
			if err != nil || string(b) != teams {
				return false
			}
			seen[v.Music] = true
			return true
		})
	}
	if len(seen) != 2 || seen[[2]uint8{}] {
		t.Errorf("the music of three pairings of two: %v", seen)
	}
	p.command(`{"cmd":"title"}`)
	p.until("title", nil)
	p.quit()
}

// Settings are checked, kept, and there again in the next run.
func TestSettingsAreKept(t *testing.T) {
	c := testConfig(t)
	p := startPlayer(t, c, StartTitle)
	s := page.DefaultSettings()
	s.Name, s.HUD = "Nadia", "full"
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	p.command(`{"cmd":"settings","settings":%s}`, b)
	for {
		if m := p.read(); m[0] == 5 && strings.Contains(string(m), "Nadia") {
			break
		}
	}
	s.Palette = "plaid"
	if b, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	p.command(`{"cmd":"settings","settings":%s}`, b)
	for {
		if m := p.read(); m[0] == 7 {
			break
		}
	}
	p.quit()
	p = startPlayer(t, c, StartTitle)
	for {
		if m := p.read(); m[0] == 5 {
			if !strings.Contains(string(m), `"hud":"full"`) || !strings.Contains(string(m), `"palette":"default"`) {
				t.Errorf("settings %s", m)
			}
			break
		}
	}
	p.until("title", nil)
	p.cancel()
	p.end(context.Canceled)
}

// A relay that is not there is an error screen with a sentence and a way on.
func TestErrorScreen(t *testing.T) {
	c := testConfig(t)
	c.Relays, c.Timeout = []string{"127.0.0.1:1"}, 2*time.Second
	p := startPlayer(t, c, StartHost)
	var e page.ErrorScreen
	p.until("error", nil).into(t, &e)
	if e.Code != 3 || e.Retry != "host" || !strings.Contains(e.Sentence, "could not be reached") {
		t.Errorf("%+v", e)
	}
	p.command(`{"cmd":"join","code":"nonsense"}`)
	p.until("error", func(s screen) bool { return strings.Contains(string(s["error"]), `"code":2`) })
	p.command(`{"cmd":"title"}`)
	p.until("title", nil)
	p.quit()
}
