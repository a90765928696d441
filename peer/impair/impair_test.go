package impair

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/bits"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	s, err := Parse("delay=40ms,jitter=5ms,loss=10%,dup=1%,reorder=1%,corrupt=0.5%,burst=1500ms/100ms,seed=7")
	if err != nil {
		t.Fatal(err)
	}
	want := Spec{Delay: 40 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: .1, Dup: .01, Reorder: .01, Corrupt: .005,
		BurstGood: 1500 * time.Millisecond, BurstBad: 100 * time.Millisecond, Seed: 7}
	if s != want {
		t.Fatalf("got %+v", s)
	}
	if z, err := Parse(""); err != nil || !z.Zero() {
		t.Fatalf("empty: %+v %v", z, err)
	}
	for _, bad := range []string{"loss", "loss=", "loss=5", "loss=-1%", "loss=101%", "loss=NaN%", "delay=-1ms", "delay=2m", "delay=x", "burst=1s",
		"burst=0s/1s", "speed=1", "loss=1%,loss=2%", "seed=-1", "trace=/nonexistent"} {
		if _, err := Parse(bad); !errors.Is(err, ErrSpec) {
			t.Errorf("%q: got %v, want ErrSpec", bad, err)
		}
	}
}

func TestTrace(t *testing.T) {
	const good = "# a comment\nt_ms,one_way_delay_ms,lost\n0.0,10.0,0\n20.0,12.5,1\n40.0,11.0,0\n"
	dir := t.TempDir()
	plain := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(plain, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(good))
	_ = w.Close()
	zipped := filepath.Join(dir, "t.csv.gz")
	if err := os.WriteFile(zipped, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{plain, zipped} {
		s, err := Parse("trace=" + f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			at, delay time.Duration
			lost      bool
		}{{0, 10e6, false}, {19e6, 10e6, false}, {20e6, 12.5e6, true}, {59e6, 11e6, false}, {60e6, 10e6, false}, {85e6, 12.5e6, true}} {
			if d, l := s.Trace.At(c.at); d != c.delay || l != c.lost {
				t.Errorf("%v: got %v %v", c.at, d, l)
			}
		}
		if _, err := Parse("loss=1%,trace=" + f); !errors.Is(err, ErrSpec) {
			t.Errorf("trace with loss: %v", err)
		}
	}
	for _, bad := range []string{"", "t,d\n", "t_ms,one_way_delay_ms,lost\n1,2,0\n", "t_ms,one_way_delay_ms,lost\n1,2,0\n1,2,0\n",
		"t_ms,one_way_delay_ms,lost\n1,2\n", "t_ms,one_way_delay_ms,lost\n1,2,2\n3,4,0\n", "t_ms,one_way_delay_ms,lost\n1,NaN,0\n3,4,0\n",
		"t_ms,one_way_delay_ms,lost\n1,,0\n3,4,0\n"} {
		if _, err := parseTrace(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	outage, err := parseTrace(strings.NewReader("t_ms,one_way_delay_ms,lost\n0,8,0\n10,,1\n20,9,0\n"))
	if err != nil {
		t.Fatal("a lost row without a delay:", err)
	}
	if _, lost := outage.At(15e6); !lost {
		t.Error("the row without a delay is not lost")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("delay=40ms,loss=5%")
	f.Add("burst=1s/1ms")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "trace") {
			return
		}
		if sp, err := Parse(s); err == nil && (sp.Loss < 0 || sp.Loss > 1 || sp.Delay < 0) {
			t.Fatalf("%q gave %+v", s, sp)
		}
	})
}

// TestModelRates draws enough datagrams that each share must show, with a
// fixed seed, so the figures are the same on every run.
func TestModelRates(t *testing.T) {
	m := newModel(Spec{Loss: .1, Dup: .05, Corrupt: .2, Delay: 40e6, Jitter: 10e6, Reorder: .1, Seed: 3})
	const n = 20000
	var out, flipped, late int
	for range n {
		b := make([]byte, 20)
		m.fate(0, b, func(d time.Duration) {
			out++
			if d < 40e6 || d > 50e6+reorderDelay {
				t.Fatalf("delay %v", d)
			}
			if d > 50e6 {
				late++
			}
		})
		ones := 0
		for _, x := range b {
			ones += bits.OnesCount8(x)
		}
		if ones > 1 {
			t.Fatal("more than one bit flipped")
		}
		flipped += ones
	}
	near := func(what string, got, want float64) {
		if got < want*0.9 || got > want*1.1 {
			t.Errorf("%s: %.4f, want about %.4f", what, got, want)
		}
	}
	near("sent", float64(out)/n, 1.05*.9)
	near("corrupt", float64(flipped)/n, .2)
	near("reorder", float64(late)/float64(out), .1)
}

func TestModelBursts(t *testing.T) {
	m := newModel(Spec{BurstGood: 1500 * time.Millisecond, BurstBad: 100 * time.Millisecond, Seed: 5})
	lost, n := 0, 0
	for at := time.Duration(0); at < 2000*time.Second; at += 16 * time.Millisecond {
		n++
		sent := false
		m.fate(at, nil, func(time.Duration) { sent = true })
		if !sent {
			lost++
		}
	}
	if got := float64(lost) / float64(n); got < .05 || got > .075 {
		t.Fatalf("%.4f lost, want about 1/16", got)
	}
}

type sink struct {
	net.PacketConn
	mu   sync.Mutex
	got  []string
	when []time.Duration
	t0   time.Time
}

func (s *sink) WriteTo(b []byte, _ net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, string(b))
	s.when = append(s.when, time.Since(s.t0))
	return len(b), nil
}
func (s *sink) Close() error { return nil }
func (s *sink) sent() (string, []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, ""), s.when
}

func TestConnDelaysInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{t0: time.Now()}
		c := Wrap(s, Spec{Delay: 40 * time.Millisecond})
		for _, x := range []string{"a", "b", "c"} {
			if _, err := c.WriteTo([]byte(x), nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(39 * time.Millisecond)
		synctest.Wait()
		if got, _ := s.sent(); got != "" {
			t.Fatalf("early: %q", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got, when := s.sent(); got != "abc" || when[0] != 40*time.Millisecond {
			t.Fatalf("got %q at %v", got, when)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteTo([]byte("d"), nil); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("after Close: %v", err)
		}
	})
}

// A datagram that is held back leaves, whatever deadline stood when it was handed over; reading keeps its own.
func TestDeadlinesOfADelayedSocket(t *testing.T) {
	from, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	c := Wrap(from, Spec{Delay: 40 * time.Millisecond})
	defer c.Close()
	for _, set := range []func(time.Time) error{c.SetWriteDeadline, c.SetDeadline} {
		if err := set(time.Now().Add(5 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteTo([]byte("late"), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		_ = to.SetReadDeadline(time.Now().Add(20 * time.Second))
		if n, _, err := to.ReadFrom(make([]byte, 10)); n != 4 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if _, _, err := c.ReadFrom(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading: %v", err)
	}
}

func TestWrapNothing(t *testing.T) {
	s := &sink{}
	if Wrap(s, Spec{Seed: 9}) != net.PacketConn(s) {
		t.Fatal("a specification without effect should leave the socket alone")
	}
}
