package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The page of the real program is for its own browser alone: another name, another page, a frame, another method, no token,
// that of another run and a second tab are refused, and the program plays on.
func TestPageIsGuarded(t *testing.T) {
	t.Parallel()
	p := start(t, "peer", "join", "--browser", "none", "--data-dir", t.TempDir())
	other := start(t, "peer", "join", "--browser", "none", "--data-dir", t.TempDir())
	url := p.line("page")
	base, token, _ := strings.Cut(url, "/#")
	_, foreign, _ := strings.Cut(other.line("page"), "/#")
	host := strings.TrimPrefix(base, "http://")
	_, port, _ := strings.Cut(host, ":")

	for _, tt := range []struct {
		name, method, path, host string
		header                   [2]string
		want                     int
	}{
		{"as it should be", "GET", "/", host, [2]string{}, 200},
		{"localhost", "GET", "/data.json", "localhost:" + port, [2]string{}, 200},
		{"own origin", "GET", "/", host, [2]string{"Origin", base}, 200},
		{"rebound name", "GET", "/", "evil.example:" + port, [2]string{}, 421},
		{"rebound name without port", "GET", "/data.json", "127.0.0.1", [2]string{}, 421},
		{"rebound name on the socket", "GET", "/ws", "evil.example:" + port, [2]string{"Origin", "http://evil.example:" + port}, 421},
		{"another page", "GET", "/data.json", host, [2]string{"Origin", "http://evil.example"}, 403},
		{"another port of this machine", "GET", "/", host, [2]string{"Origin", "http://127.0.0.1:1"}, 403},
		{"origin null", "GET", "/", host, [2]string{"Origin", "null"}, 403},
		{"frame", "GET", "/", host, [2]string{"Sec-Fetch-Dest", "iframe"}, 403},
		{"object", "GET", "/", host, [2]string{"Sec-Fetch-Dest", "object"}, 403},
		{"form", "POST", "/", host, [2]string{}, 405},
		{"socket without an origin", "GET", "/ws", host, [2]string{}, 403},
		{"out of the folder", "GET", "/..%2f..%2fetc/passwd", host, [2]string{}, 404},
		{"listing", "GET", "/screens/", host, [2]string{}, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		if tt.header[0] != "" {
			req.Header.Set(tt.header[0], tt.header[1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, res.StatusCode, tt.want)
		}
		if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || !strings.HasPrefix(csp, "default-src 'self';") ||
			res.Header.Get("X-Frame-Options") != "DENY" || res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", tt.name, res.Header)
		}
		if strings.Contains(string(body), token) {
			t.Errorf("%s: the token is in the answer", tt.name)
		}
	}
	http.DefaultClient.CloseIdleConnections()

	for name, hello := range map[string]string{
		"no token":             `{"tab":"00112233445566aa","mode":"play"}`,
		"empty token":          `{"token":"","tab":"00112233445566aa","mode":"play"}`,
		"token of another run": fmt.Sprintf(`{"token":%q,"tab":"00112233445566aa","mode":"play"}`, foreign),
		"longer token":         fmt.Sprintf(`{"token":%q,"tab":"00112233445566aa","mode":"play"}`, token+"0"),
		"begun token":          fmt.Sprintf(`{"token":%q,"tab":"00112233445566aa","mode":"view"}`, token[:16]),
	} {
		b := dialTab(t, url)
		b.send(tabHello, []byte(hello))
		b.closed(4401)
		if b.told {
			t.Errorf("%s: something was told before the refusal", name)
		}
	}
	b := dialTab(t, url) // says something else first
	b.command(`{"cmd":"quit"}`)
	b.closed(4400)

	first := openTab(t, url)
	first.screen("title")
	hello := func(tab, mode string) *tab {
		b := dialTab(t, url)
		b.send(tabHello, fmt.Appendf(nil, `{"token":%q,"tab":%q,"mode":%q}`, token, tab, mode))
		return b
	}
	hello("ffffffffffffffff", "play").closed(4409)
	viewer := hello("ffffffffffffffff", "view")
	viewer.screen("title")
	viewer.command(`{"cmd":"quit"}`) // is not asked
	viewer.command(`{"cmd":"train"}`)
	first.command(`{"cmd":"train"}`)
	first.screen("train")
	viewer.screen("train")
	reloaded := hello("00112233445566aa", "play")
	reloaded.screen("train")
	first.closed(4410)
	taker := hello("ffffffffffffffff", "take")
	taker.screen("train")
	reloaded.closed(4410)
	taker.command(`{"cmd":"quit"}`)
	p.ends(0, "")
}
