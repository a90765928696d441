package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/cmd/internal/exit"
	"backstep/relay"
)

// TestMain lets the test binary stand in for the command, so that its signals and exit code can be seen from outside.
func TestMain(m *testing.M) {
	if os.Getenv("BACKSTEP_TEST_AS_RELAY") != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestOneShots(t *testing.T) {
	t.Setenv("RELAY_TOKEN", "hunter2")
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"--version", []string{"relay ", "go1"}},
		{"serve -version", []string{"relay "}},
		{"--help", []string{"usage: relay [serve]", "--listen HOST:PORT", "(repeatable)", "[default 127.0.0.1:9478]"}},
		{"serve --print-config --listen 127.0.0.1:0 --listen [::1]:0", []string{
			"listen = 127.0.0.1:0,[::1]:0  # flag\n", "admin = 127.0.0.1:9478  # default\n", "relay-token = ********  # env RELAY_TOKEN\n",
		}},
	} {
		var out, logs strings.Builder
		if err := run(t.Context(), strings.Fields(tt.line), &out, &logs); err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: output lacks %q:\n%s", tt.line, want, out.String())
			}
		}
		if strings.Contains(out.String(), "hunter2") || logs.Len() != 0 {
			t.Errorf("%s: the token shows, or there are logs: %s %s", tt.line, out.String(), logs.String())
		}
	}
}

func TestRefusals(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "relay.conf")
	if err := os.WriteFile(conf, []byte("listen :0\nlisen :0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		line string
		code int
		want string
	}{
		{"--bogus", exit.Usage, "unknown flag --bogus"},
		{"dance", exit.Usage, `unknown command "dance"`},
		{"serve :3478", exit.Usage, "with --listen"},
		{"probe --json", exit.Usage, "wants one relay"},
		{"probe http://relay.example.net", exit.Usage, "give HOST or HOST:PORT"},
		{"probe 127.0.0.1:3478 --listen :0", exit.Usage, "listen"},
		{"--listen 127.0.0.1:0 --workers -1", exit.Usage, "workers"},
		{"--listen 127.0.0.1:0 --workers 65", exit.Usage, "65 workers, must be 1 to 64"},
		{"--listen 127.0.0.1:0 --egress-budget lots", exit.Usage, "not a number of bytes"},
		{"--config " + conf, exit.Usage, `unknown key "lisen"`},
		{"--config " + conf + ".missing", exit.Usage, "cannot read the configuration file"},
		{"--listen 3478", exit.Usage, "not HOST:PORT"},
		{"--listen :70000", exit.Usage, "port number from 0 to 65535"},
		{"--listen 127.0.0.1:0 --public-addr example.net", exit.Usage, "not IP or IP:PORT"},
		{"--listen 127.0.0.1:0 --tls-cert x.pem", exit.Usage, "only one was given"},
		{"--listen 127.0.0.1:0 --log-level loud", exit.Usage, "--log-level"},
		{"--listen 127.0.0.1:0 --log-format xml", exit.Usage, "--log-format"},
		{"--state-dir= --admin= --listen " + taken.Addr().String(), exit.Internal, "give another one with --listen"},
	} {
		var out, logs strings.Builder
		err := run(t.Context(), strings.Fields(tt.line), &out, &logs)
		if exit.Code(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: code %d and %v, want %d and %q", tt.line, exit.Code(err), err, tt.code, tt.want)
			continue
		}
		if out.Len() != 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: output %q, error %q", tt.line, out.String(), err)
		}
	}
}

// relay probe says in sentences or JSON what it finds, and ends with 0 or 1.
func TestProbe(t *testing.T) {
	server, err := relay.New(relay.Config{Listen: []string{"127.0.0.1:0"}, DrainLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	addr := server.Addrs()[0].String()
	var out strings.Builder
	if err := run(t.Context(), []string{"probe", addr}, &out, io.Discard); err != nil || !strings.Contains(out.String(), "Players can use "+addr) {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := run(t.Context(), []string{"probe", addr, "--json"}, &out, io.Discard); err != nil {
		t.Error(err)
	}
	var report struct {
		Relay  string
		Usable bool
		Checks []struct{ Name, Status, Text string }
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil || !report.Usable || report.Relay != addr || len(report.Checks) < 8 {
		t.Errorf("%v %s", err, out.String())
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	out.Reset()
	err = run(t.Context(), []string{"probe", addr, "--json"}, &out, io.Discard)
	if exit.Code(err) != 1 || json.Unmarshal([]byte(out.String()), &report) != nil || report.Usable {
		t.Errorf("a relay that is gone: code %d, %v\n%s", exit.Code(err), err, out.String())
	}
}

func TestByteSize(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "1000": 1000, "500GB": 500e9, "1.5TB": 1500e9, "64MiB": 64 << 20, "7 kB": 7000, "12B": 12} {
		var b byteSize
		if err := b.Set(in); err != nil || uint64(b) != want {
			t.Errorf("%s: %d %v", in, uint64(b), err)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%s is shown as %s", in, b.String())
		}
	}
	for _, in := range []string{"", "GB", "-1", "-1GB", "1e9", "0x10", "1 000", "NaN", "Inf", "99999999999TB", "5GBit"} {
		if err := new(byteSize).Set(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		args := []string{"--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir(), "--admin", "", "--log-format", "json"}
		err := run(ctx, args, w, io.Discard)
		w.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(r)
	for range 2 {
		if !lines.Scan() {
			t.Fatalf("no listening line; the command ended with %v", <-ended)
		}
		text, ok := strings.CutPrefix(lines.Text(), "listening ")
		addr, err := netip.ParseAddrPort(text)
		if !ok || err != nil || addr.Port() == 0 {
			t.Fatalf("line %q", lines.Text())
		}
		conn, err := net.Dial("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	cancel(exit.Signal{Signal: syscall.SIGTERM})
	select {
	case err := <-ended:
		var signal exit.Signal
		if !errors.As(err, &signal) || exit.Code(err) != 143 {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("an idle relay did not end")
	}
}
