package link

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/natpunch"
	"backstep/rollback/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Now()

func now() int64 { return time.Since(epoch).Microseconds() }

func config(server bool) Config {
	return Config{Server: server, PSK: bytes.Repeat([]byte{7}, 32), Identity: []byte("bs1-0e9552baf094c56e"), Now: now}
}

// connect runs both sides' handshakes at once.
func connect(t testing.TB, a, b *fakeTransport, ca, cb Config) (*Link, *Link, error) {
	t.Helper()
	type result struct {
		l   *Link
		err error
	}
	got := make(chan result, 1)
	go func() {
		l, err := Connect(context.Background(), b, cb)
		got <- result{l, err}
	}()
	la, err := Connect(context.Background(), a, ca)
	r := <-got
	return la, r.l, errors.Join(err, r.err)
}

func established(t testing.TB) (la, lb *Link, a, b *fakeTransport) {
	t.Helper()
	a, b = newPair(1, 0)
	la, lb, err := connect(t, a, b, config(true), config(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = la.Close()
		_ = lb.Close()
	})
	return la, lb, a, b
}

// receive waits for one packet.
func receive(t testing.TB, l *Link) []byte {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if p, _, ok := l.Receive(); ok {
			return p
		}
	}
	t.Fatal("nothing arrived")
	return nil
}

func TestSendReceive(t *testing.T) {
	la, lb, a, b := established(t)
	if want := "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256"; la.Cipher() != want || lb.Cipher() != want {
		t.Fatalf("ciphers %q, %q", la.Cipher(), lb.Cipher())
	}
	la.Send([]byte("from the host"))
	lb.Send([]byte("from the joiner"))
	if got := receive(t, lb); string(got) != "from the host" {
		t.Fatalf("got %q", got)
	}
	if got := receive(t, la); string(got) != "from the joiner" {
		t.Fatalf("got %q", got)
	}
	if a.arrivals(natpunch.Relay) != 1 || b.arrivals(natpunch.Relay) != 1 {
		t.Fatal("the transport was not told of authenticated arrivals")
	}
}

// TestRecordOverhead holds the 29 bytes a record that the byte budget rests on.
func TestRecordOverhead(t *testing.T) {
	la, lb, a, _ := established(t)
	a.mu.Lock()
	a.keep = true
	a.mu.Unlock()
	la.Send(make([]byte, 11))
	receive(t, lb)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sent) != 1 || len(a.sent[0]) != 1+11+29 {
		t.Fatalf("sent %d datagrams, the first of %d bytes", len(a.sent), len(a.sent[0]))
	}
	if la.Stats().SentBytes != uint64(len(a.sent[0])) {
		t.Fatalf("counted %d bytes", la.Stats().SentBytes)
	}
}

// TestDualSending: each path gets a copy of its own that says its own path.
func TestDualSending(t *testing.T) {
	la, lb, a, b := established(t)
	a.mu.Lock()
	a.plan = natpunch.Relay | natpunch.Direct
	a.mu.Unlock()
	la.Send([]byte("x"))
	receive(t, lb)
	receive(t, lb)
	if b.arrivals(natpunch.Relay) != 1 || b.arrivals(natpunch.Direct) != 1 {
		t.Fatalf("arrivals %v", b.seen)
	}
}

func TestHandshakeUnderLoss(t *testing.T) {
	for seed := range uint64(12) {
		a, b := newPair(seed, 0.2)
		la, lb, err := connect(t, a, b, config(true), config(false))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, l := range []*Link{la, lb} {
			if l != nil {
				_ = l.Close()
			}
		}
	}
}

func TestWrongKeyOrIdentity(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"key":      func(c *Config) { c.PSK[0] ^= 1 },
		"identity": func(c *Config) { c.Identity = []byte("bs1-ffffffffffffffff") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newPair(1, 0)
			cb := config(false)
			change(&cb)
			la, lb, err := connect(t, a, b, config(true), cb)
			if la != nil || lb != nil || !errors.Is(err, ErrHandshake) {
				t.Fatalf("links %v %v, error %v", la, lb, err)
			}
			if strings.Trim(string(cb.PSK), "\x00") != "" {
				t.Fatal("the key was not wiped")
			}
			// The transport survives a failed attempt.
			la, lb, err = connect(t, a, b, config(true), config(false))
			if err != nil {
				t.Fatal(err)
			}
			_ = la.Close()
			_ = lb.Close()
		})
	}
}

func record(kind byte, epoch uint16, seq uint64, body []byte) []byte {
	b := []byte{kind, 0xfe, 0xfd}
	b = binary.BigEndian.AppendUint16(b, epoch)
	b = append(b, byte(seq>>40), byte(seq>>32), byte(seq>>24), byte(seq>>16), byte(seq>>8), byte(seq))
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

// TestForgedRecordsAttack15: epoch-0 records of types 20 to 63 into an
// established link, and damaged copies of real ones, leave it as it was.
func TestForgedRecordsAttack15(t *testing.T) {
	la, lb, a, b := established(t)
	a.mu.Lock()
	a.keep = true
	a.mu.Unlock()
	lb.Send([]byte("hello"))
	receive(t, la)
	la.Send([]byte("hello"))
	receive(t, lb)
	want := uint64(0)
	for kind := byte(20); kind < 64; kind++ {
		for _, ep := range []uint16{0, 2, 0xffff} {
			b.inject(record(kind, ep, uint64(kind)+1<<20, []byte{2, 40, 0, 0}))
			want++
		}
	}
	// Damaged copies that keep their own sequence number count as repeats of
	// the good one, so give each a number of its own.
	good := a.sent[0]
	for i := range good {
		bad := bytes.Clone(good)
		bad[9]++
		bad[10] = byte(i)
		bad[i] ^= 0x10
		b.inject(bad)
		want++
	}
	b.inject(good) // replayed, not forged
	for i := range 50 {
		la.Send(fmt.Appendf(nil, "packet %d", i))
		if got := receive(t, lb); string(got) != fmt.Sprintf("packet %d", i) {
			t.Fatalf("packet %d: got %q", i, got)
		}
	}
	// A damaged copy may share its number with another one, and one whose
	// length is damaged falls into two records.
	if got := lb.Stats().Forged; got < want-4 || got > want+4 {
		t.Fatalf("%d counted as forged, %d were sent", got, want)
	}
	if lb.Broken() {
		t.Fatal("the link broke")
	}
}

// TestForgedDuringHandshakeAttack16: plaintext alerts and foreign records
// during the handshake do not keep it from succeeding.
func TestForgedDuringHandshakeAttack16(t *testing.T) {
	a, b := newPair(1, 0)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Microsecond):
				b.inject(record(21, 0, i<<16, []byte{2, 40}))
				a.inject(record(21, 0, i<<16, []byte{1, 0}))
				a.inject(record(23, 0, i<<16, []byte{1, 0}))
			}
		}
	}()
	la, lb, err := connect(t, a, b, config(true), config(false))
	close(stop)
	<-done
	if err != nil {
		t.Fatal(err)
	}
	la.Send([]byte("x"))
	receive(t, lb)
	_ = la.Close()
	_ = lb.Close()
}

// TestIllegalLinkByte: authentic packets that no honest link sends are
// counted and go no further.
func TestIllegalLinkByte(t *testing.T) {
	la, lb, _, _ := established(t)
	for _, p := range [][]byte{{0, 1}, {3, 1}, {4, 1}, {0x81, 1}, {1}, make([]byte, 1300)} {
		if _, err := la.conn.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	la.Send([]byte("after"))
	if got := receive(t, lb); string(got) != "after" {
		t.Fatalf("got %x", got)
	}
	if got := lb.Stats().Malformed; got != 6 {
		t.Fatalf("%d malformed, want 6", got)
	}
}

func TestCloseTellsTheOther(t *testing.T) {
	la, lb, _, _ := established(t)
	la.Send([]byte("x"))
	receive(t, lb)
	_ = la.Close()
	for end := time.Now().Add(5 * time.Second); !lb.Broken(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other side never noticed")
		}
	}
	lb.Send([]byte("into the void")) // counted, not an error
	if lb.Stats().SendRefused == 0 {
		t.Fatal("a send on a broken link was not counted")
	}
}

func TestSendRefusesSizes(t *testing.T) {
	la, _, _, _ := established(t)
	la.Send(nil)
	la.Send(make([]byte, wire.MaxPacket+1))
	if s := la.Stats(); s.SendRefused != 2 || s.Sent != 0 {
		t.Fatalf("%+v", s)
	}
}

// A packet of one match that arrives during the next is dropped and counted,
// and packets of the same match arrive.
func TestMatchNumberKeepsLatePacketsOut(t *testing.T) {
	var q queue
	buf := make([]byte, wire.MaxPacket)
	q.push([]byte{1}, 1, 0)
	q.begin(1)
	q.push([]byte{2}, 2, 0)
	if _, _, ok := q.pop(buf); ok || q.strays != 2 {
		t.Fatalf("a packet of the match before arrived (%d strays)", q.strays)
	}
	q.push([]byte{3}, 3, 1)
	if n, at, ok := q.pop(buf); !ok || n != 1 || at != 3 || buf[0] != 3 {
		t.Fatalf("got %d bytes at %d, %v", n, at, ok)
	}
}
