package link

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"backstep/natpunch"
	"backstep/rollback/wire"
)

// took collects side messages; it refuses the first refuse of them.
type took struct {
	mu     sync.Mutex
	refuse int
	all    []string
}

func (k *took) message(b []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuse > 0 {
		k.refuse--
		return false
	}
	k.all = append(k.all, string(b))
	return true
}

func (k *took) list() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.all...)
}

// TestSideMessages: on a line that loses a third, with a receiver that is not
// ready at first, every message arrives once and in order, both ways, while
// packets go on.
func TestSideMessages(t *testing.T) {
	la, lb, a, b := established(t)
	for _, f := range []*fakeTransport{a, b} {
		f.mu.Lock()
		f.loss, f.plan = 0.33, natpunch.Relay|natpunch.Direct
		f.mu.Unlock()
	}
	links, got := [2]*Link{la, lb}, [2]*took{{refuse: 2}, {}}
	const each = 6
	var want [2][]string
	for i, l := range links {
		for n := range each {
			m := fmt.Sprintf("message %d of side %d", n, i)
			want[1-i] = append(want[1-i], m)
			if !l.Post([]byte(m)) {
				t.Fatal("refused")
			}
		}
	}
	done := func() bool { return len(got[0].list()) >= each && len(got[1].list()) >= each }
	packets := 0
	for end := time.Now().Add(20 * time.Second); !done() && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if packets == 20 {
			la.OnSide(got[0].message)
			lb.OnSide(got[1].message)
		}
		packets++
		for _, l := range links {
			l.Send([]byte("packet"))
			for {
				b, _, ok := l.Receive()
				if !ok {
					break
				}
				if string(b) != "packet" {
					t.Fatalf("%q came as a packet", b)
				}
			}
		}
	}
	for i := range got {
		if list := got[i].list(); fmt.Sprint(list) != fmt.Sprint(want[i]) {
			t.Errorf("side %d got %q", i, list)
		}
	}
	if s := la.Stats(); s.Malformed != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSideRefuses(t *testing.T) {
	la, _, _, _ := established(t)
	if la.Post(nil) || la.Post(make([]byte, MaxSide+1)) || !la.Post(make([]byte, MaxSide)) {
		t.Error("wrong lengths")
	}
	for range sideQueue - 1 {
		if !la.Post([]byte{1}) {
			t.Error("refused early")
		}
	}
	if la.Post([]byte{1}) {
		t.Error("more than the queue holds")
	}
}

// FuzzSide: whatever an opponent writes, a message is taken only when it is
// the next one, and never twice.
func FuzzSide(f *testing.F) {
	f.Add([]byte{1, 0, 'x'})
	f.Add([]byte{0, 1})
	f.Add([]byte{2, 0, 'x'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s side
		var k took
		handler := k.message
		fn := func(b []byte) bool { return handler(b) }
		s.on.Store(&fn)
		ok := s.receive(b)
		well := len(b) >= 2 && (b[0] == 0) == (len(b) == 2)
		if ok != well {
			t.Fatalf("%x: %v", b, ok)
		}
		again := s.receive(b)
		list := k.list()
		if again != ok || len(list) > 1 || len(list) == 1 && (b[0] != 1 || list[0] != string(b[2:])) {
			t.Fatalf("%x gave %q", b, list)
		}
		if (len(list) == 1) != (ok && b[0] == 1) {
			t.Fatalf("%x gave %q", b, list)
		}
	})
}

// TestSideByte: the link byte of a side message names one path and nothing
// else; everything else is counted.
func TestSideByte(t *testing.T) {
	la, lb, _, _ := established(t)
	for _, b := range [][]byte{
		{sideBit | 3, 1, 0, 'x'}, {sideBit, 1, 0, 'x'}, {sideBit | 1 | 4, 1, 0, 'x'}, {sideBit | 1 | 64, 1, 0, 'x'}, {sideBit | 1, 1}, {sideBit | 1, 1, 0},
	} {
		before := lb.Stats().Malformed
		if _, err := la.conn.Write(b); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(5 * time.Second); lb.Stats().Malformed == before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%x was not counted", b)
			}
		}
	}
}

// TestSideAllocates: a link without side messages pays nothing for them.
func TestSideAllocates(t *testing.T) {
	var s side
	b := bytes.Repeat([]byte{0}, 2)
	if n := testing.AllocsPerRun(100, func() { _ = s.due.Load(); s.receive(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if MaxSide+sideHeader != wire.MaxPacket {
		t.Error("a side message is as long as a packet")
	}
}
