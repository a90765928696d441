package link

import (
	"bytes"
	"testing"
)

// A handshake under loss and with every datagram repeated much later is no forgery, and one byte more is.
func TestLateFlightsAreNotForged(t *testing.T) {
	a, b := newPair(3, 0.25)
	for _, end := range []*fakeTransport{a, b} {
		end.mu.Lock()
		end.keep = true
		end.mu.Unlock()
	}
	la, lb, err := connect(t, a, b, config(true), config(false))
	if err != nil {
		t.Fatal(err)
	}
	defer la.Close()
	defer lb.Close()
	for _, end := range []*fakeTransport{a, b} {
		end.mu.Lock()
		end.loss = 0
		end.mu.Unlock()
	}
	la.Send([]byte("x"))
	receive(t, lb)
	lb.Send([]byte("x"))
	receive(t, la)
	// Everything that was ever sent arrives once more, if it arrived at all the first time. What was lost then is new now.
	repeats := 0
	for i, end := range []*fakeTransport{a, b} {
		end.mu.Lock()
		sent := append([][]byte(nil), end.sent...)
		end.mu.Unlock()
		for _, d := range sent {
			[]*fakeTransport{b, a}[i].inject(d)
			repeats++
		}
	}
	la.Send([]byte("y"))
	receive(t, lb)
	lb.Send([]byte("y"))
	receive(t, la)
	if repeats < 6 {
		t.Fatalf("only %d datagrams were repeated", repeats)
	}
	for name, l := range map[string]*Link{"host": la, "joiner": lb} {
		if st := l.Stats(); st.Forged != 0 || st.Late == 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
	before := la.Stats()
	forged := record(typeHandshake, 0, 99, []byte{1, 2, 3})
	a.inject(forged)
	a.inject(record(typeHandshake, 0, 100, bytes.Repeat([]byte{7}, 60)))
	lb.Send([]byte("z"))
	receive(t, la)
	if st := la.Stats(); st.Forged != before.Forged+2 {
		t.Errorf("forged %d, want %d", st.Forged, before.Forged+2)
	}
}
