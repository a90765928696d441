package theatre

import (
	"bytes"
	"errors"
	"testing"

	"backstep/sim"
	"backstep/sim/bot"
	"backstep/sim/replay"
)

// recorded plays two bots and gives the file and the hash after every frame.
func recorded(t *testing.T, frames int) ([]byte, []uint64) {
	t.Helper()
	c := sim.DefaultConfig()
	c.Seed = 42
	r, err := replay.NewRecorder("test", c, 2)
	if err != nil {
		t.Fatal(err)
	}
	var w sim.World
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	var bots [2]bot.Bot
	for side := range bots {
		if bots[side], err = bot.New("hard", 3, side); err != nil {
			t.Fatal(err)
		}
	}
	var in [2]sim.Input
	var hashes []uint64
	for range frames {
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(&w), Prev: in[side].Now}
		}
		w.Step(in[:], sim.Emit)
		if err := r.Add([]uint16{in[0].Now, in[1].Now}); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, w.Hash())
	}
	b, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, hashes
}

// Whatever way a frame is reached, it is the frame of the match.
func TestSeekAnyWay(t *testing.T) {
	b, hashes := recorded(t, 700)
	th, err := Open(b)
	if err != nil {
		t.Fatal(err)
	}
	if th.Frames() != 700 || th.Frame() != -1 {
		t.Fatalf("%d frames, at %d", th.Frames(), th.Frame())
	}
	for _, f := range []int{0, 1, 59, 60, 61, 500, 499, 498, 60, 59, 699, 0, 350, 299, 300, 301} {
		th.Seek(f)
		if th.Frame() != f || th.World().Hash() != hashes[f] {
			t.Fatalf("seek %d: at %d, %016x, want %016x", f, th.Frame(), th.World().Hash(), hashes[f])
		}
	}
	th.Seek(1 << 30)
	if th.Frame() != 699 || th.Step() {
		t.Errorf("at %d behind the end", th.Frame())
	}
	th.Seek(-100)
	if th.Frame() != -1 {
		t.Errorf("at %d before the start", th.Frame())
	}
	for th.Step() {
	}
	if th.World().Hash() != hashes[699] {
		t.Error("played through, it ends otherwise")
	}
	if err := th.Verify(); err != nil {
		t.Error(err)
	}
	if len(th.Marks()) == 0 {
		t.Error("no round begins")
	}
}

func TestRefusesDamage(t *testing.T) {
	b, _ := recorded(t, 50)
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x40
		if _, err := Open(bad); err == nil {
			t.Fatalf("byte %d of %d may be altered", i, len(b))
		}
	}
	for _, n := range []int{0, 1, 30, len(b) - 1} {
		if _, err := Open(b[:n]); !errors.Is(err, replay.ErrMalformed) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}
