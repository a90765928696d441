package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Message types of docs/page.md.
const (
	tabHello, tabCommand, tabUpload = 1, 3, 4

	pageScreen, pageSnapshot, pageFile, pageNotice, pageTalk = 2, 3, 6, 7, 8
)

// tab stands in a browser's place: it talks to the page of a program. Like a browser it reads all the time; the program
// lets a tab go that does not.
type tab struct {
	t     *testing.T
	ws    *websocket.Conn
	came  chan []byte // messages, until the connection ends
	err   error       // how it ended, once came is closed
	shots int         // snapshots seen
	shown []byte      // newest SCREEN
	told  bool        // something was sent by the program
}

// openTab opens the page and becomes its player.
func openTab(t *testing.T, url string) *tab {
	t.Helper()
	b := dialTab(t, url)
	_, token, _ := strings.Cut(url, "/#")
	b.send(tabHello, fmt.Appendf(nil, `{"token":%q,"tab":"00112233445566aa","mode":"play"}`, token))
	return b
}

// dialTab opens the page's WebSocket and says nothing yet.
func dialTab(t *testing.T, url string) *tab {
	t.Helper()
	base, _, _ := strings.Cut(url, "/#")
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(base, "http", "ws", 1)+"/ws",
		&websocket.DialOptions{HTTPHeader: map[string][]string{"Origin": {base}}, Subprotocols: []string{"backstep.page.1"}})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(4 << 20)
	b := &tab{t: t, ws: ws, came: make(chan []byte, 1<<16)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(b.came)
		for {
			_, m, err := ws.Read(context.Background())
			if err != nil {
				b.err = err
				return
			}
			b.came <- m
		}
	}()
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-ended
	})
	return b
}

// next is the next message, nil once the connection has ended.
func (b *tab) next(what string) []byte {
	b.t.Helper()
	select {
	case m := <-b.came:
		b.told = b.told || m != nil
		return m
	case <-time.After(patience):
		b.t.Fatalf("%s does not come", what)
	}
	return nil
}

func (b *tab) send(kind byte, body []byte) {
	b.t.Helper()
	if err := b.ws.Write(b.t.Context(), websocket.MessageBinary, append([]byte{kind}, body...)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) command(json string, args ...any) { b.send(tabCommand, fmt.Appendf(nil, json, args...)) }

// wait reads until a message of the kind fits.
func (b *tab) wait(kind byte, fits func(body []byte) bool) []byte {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		m := b.next(fmt.Sprintf("a message of kind %d", kind))
		if m == nil || time.Now().After(end) {
			b.t.Fatalf("no message of kind %d: %v", kind, b.err)
		}
		switch m[0] {
		case pageSnapshot:
			b.shots++
		case pageScreen:
			b.shown = m[1:]
		}
		if m[0] == kind && (fits == nil || fits(m[1:])) {
			return m[1:]
		}
	}
}

// screen waits until a screen is shown and returns what it holds.
func (b *tab) screen(name string) map[string]any {
	b.t.Helper()
	var s map[string]any
	is := func(body []byte) bool {
		s = nil
		return json.Unmarshal(body, &s) == nil && s["screen"] == name
	}
	if !is(b.shown) {
		b.wait(pageScreen, is)
	}
	part, _ := s[name].(map[string]any)
	return part
}

// notice waits for a sentence.
func (b *tab) notice() string {
	b.t.Helper()
	var n struct{ Text, Kind string }
	if err := json.Unmarshal(b.wait(pageNotice, nil), &n); err != nil {
		b.t.Fatal(err)
	}
	return n.Text
}

// closed wants the program to end the connection with a close code.
func (b *tab) closed(code websocket.StatusCode) {
	b.t.Helper()
	for b.next("the end of the connection") != nil {
	}
	var ce websocket.CloseError
	if !errors.As(b.err, &ce) || ce.Code != code {
		b.t.Errorf("the connection ended with %v, want code %d", b.err, code)
	}
}

// sentenceFits tells a notice that is one plain sentence.
func sentenceFits(s string) bool {
	return len(s) > 10 && len(s) < 600 && !strings.ContainsAny(s, "\n\x1b\u202e\x00")
}
