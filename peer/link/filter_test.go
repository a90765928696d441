package link

import (
	"bytes"
	"testing"

	"backstep/rollback/wire"
)

func TestFilterKeeps(t *testing.T) {
	sealed := make([]byte, minSealed)
	hs := record(typeHandshake, 0, 1, []byte("hello"))
	ccs := record(typeChangeCipherSpec, 0, 2, []byte{1})
	fin := record(typeHandshake, 1, 0, sealed)
	app := record(typeApplicationData, 1, 3, sealed)
	old := bytes.Clone(app)
	old[2] = 0xff // DTLS 1.0 in the record header is legal in a ClientHello
	foreign := bytes.Clone(app)
	foreign[2] = 0xfc
	join := func(r ...[]byte) []byte { return bytes.Join(r, nil) }
	for _, c := range []struct {
		name   string
		done   bool
		in     []byte
		out    []byte
		forged uint64
	}{
		{"flight", false, join(hs, ccs, fin), join(hs, ccs, fin), 0},
		{"flight after the handshake", true, join(hs, ccs, fin), fin, 2},
		{"application data", true, app, app, 0},
		{"version FE FF", true, old, old, 0},
		{"foreign version", true, join(foreign, app), app, 1},
		{"plaintext alert", false, join(record(typeAlert, 0, 9, []byte{2, 40}), hs), hs, 1},
		{"encrypted alert", true, record(typeAlert, 1, 9, sealed), record(typeAlert, 1, 9, sealed), 0},
		{"plaintext data", false, record(typeApplicationData, 0, 9, sealed), nil, 1},
		{"ccs in epoch 1", true, record(typeChangeCipherSpec, 1, 9, sealed), nil, 1},
		{"too short for a tag", true, record(typeApplicationData, 1, 9, sealed[1:]), nil, 1},
		{"epoch 2", true, record(typeApplicationData, 2, 9, sealed), nil, 1},
		{"unknown type", true, record(25, 1, 9, sealed), nil, 1},
		{"cut header", true, join(app, app[:12]), app, 1},
		{"cut body", true, join(app, app[:20]), app, 1},
		{"empty", true, nil, nil, 0},
	} {
		f := &filter{}
		f.done.Store(c.done)
		b := bytes.Clone(c.in)
		if n := f.keep(b); !bytes.Equal(b[:n], c.out) || f.forged.Load() != c.forged {
			t.Errorf("%s: kept %x and counted %d, want %x and %d", c.name, b[:n], f.forged.Load(), c.out, c.forged)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(record(typeApplicationData, 1, 3, make([]byte, minSealed)), true)
	f.Add(record(typeHandshake, 0, 3, []byte{1}), false)
	f.Fuzz(func(t *testing.T, in []byte, done bool) {
		fl := &filter{}
		fl.done.Store(done)
		b := bytes.Clone(in)
		n := fl.keep(b)
		again := bytes.Clone(b[:n])
		before := fl.forged.Load()
		if m := fl.keep(again); m != n || fl.forged.Load() != before {
			t.Fatalf("what was kept is not kept again: %d then %d", n, m)
		}
	})
}

func TestHotPathAllocations(t *testing.T) {
	f := &filter{}
	b := record(typeApplicationData, 1, 3, make([]byte, 60))
	q := &queue{}
	out := make([]byte, wire.MaxPacket)
	if n := testing.AllocsPerRun(100, func() {
		f.keep(b)
		q.push(b, 1, 0)
		q.pop(out)
	}); n != 0 {
		t.Fatalf("%v allocations a packet outside the DTLS library", n)
	}
}

// SESS-40, CHAN-09: one goroutine reads; what it reads waits in a bounded queue until the loop asks, the oldest goes first.
func TestQueueDropsOldest(t *testing.T) {
	q := &queue{}
	for i := range queueLen + 3 {
		q.push([]byte{byte(i), byte(i >> 8)}, int64(i), 0)
	}
	b := make([]byte, wire.MaxPacket)
	if _, at, ok := q.pop(b); !ok || at != 3 || q.dropped != 3 {
		t.Fatalf("oldest is from %d, %d dropped", at, q.dropped)
	}
	n := 1
	for {
		if _, _, ok := q.pop(b); !ok {
			break
		}
		n++
	}
	if n != queueLen {
		t.Fatalf("%d packets left", n)
	}
}

func TestReplayedCountsNewOnes(t *testing.T) {
	var r replayed
	for _, s := range []uint64{0, 1, 2, 2, 5, 3, 5, 4, 1, replayWindow * 3, 7, replayWindow*3 - 1, replayWindow*3 - 1} {
		r.add(s)
	}
	// 0…5 once each, the far one, 7 from before the window, and one behind it.
	if got := r.fresh.Load(); got != 9 {
		t.Fatalf("%d new, want 9", got)
	}
}
