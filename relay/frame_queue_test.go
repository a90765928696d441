package relay

import (
	"bytes"
	"encoding/binary"
	"testing"

	"backstep/natpunch/rendezvous"

	"pgregory.net/rapid"
)

// The ring behaves like a list of frames of which the oldest go as soon as 64 KB with two bytes a frame are exceeded.
func TestFrameQueueModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newFrameQueue()
		var model [][]byte
		held := 0
		var buf [rendezvous.MaxFrame]byte
		serial := uint32(0)
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "what") > 0 {
				b := make([]byte, rapid.IntRange(1, rendezvous.MaxFrame).Draw(t, "size"))
				serial++
				for i := range b {
					b[i] = byte(serial + uint32(i))
				}
				model = append(model, b)
				held += 2 + len(b)
				want := 0
				for held > tunnelQueue {
					held -= 2 + len(model[0])
					model = model[1:]
					want++
				}
				if got := q.push(b); got != want {
					t.Fatalf("%d dropped, want %d", got, want)
				}
				continue
			}
			n := q.pop(buf[:])
			if len(model) == 0 {
				if n != 0 {
					t.Fatal("a frame out of nothing")
				}
				continue
			}
			if !bytes.Equal(buf[:n], model[0]) {
				t.Fatalf("%x, want %x", buf[:n], model[0])
			}
			held -= 2 + n
			model = model[1:]
		}
		if len(q.buf) > tunnelQueue {
			t.Fatalf("%d bytes", len(q.buf))
		}
	})
}

func TestFrameQueueAllocatesNothing(t *testing.T) {
	q := newFrameQueue()
	b := make([]byte, 100)
	var buf [rendezvous.MaxFrame]byte
	q.push(b)
	q.pop(buf[:])
	if n := testing.AllocsPerRun(1000, func() { q.push(b); q.pop(buf[:]) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if len(q.buf) != queueStart {
		t.Fatalf("%d bytes for one frame at a time", len(q.buf))
	}
}

// Names of tunnels never meet each other or the source of a datagram.
func TestTunnelNames(t *testing.T) {
	var s tunnelStats
	a, b := s.newName(), s.newName()
	if a == b || a.Port() != 0 || !a.Addr().Is6() || binary.BigEndian.Uint16(a.Addr().AsSlice()) != 0x0100 {
		t.Fatal(a, b)
	}
}
