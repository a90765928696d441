package sim

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"backstep/sim/data"
)

// kit is a roster of fighters with one of everything, under testdata, with the rules and tables of the game. The fighters of the
// game may be balanced as one likes without a test of the engine noticing.
func kit(t testing.TB) *data.Roster {
	t.Helper()
	r, err := kitOnce()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var kitOnce = sync.OnceValues(func() (*data.Roster, error) { return loadKit(func(fstest.MapFS) {}) })

// loadKit reads the kit with files changed by a test.
func loadKit(change func(fstest.MapFS)) (*data.Roster, error) {
	files := fstest.MapFS{}
	for _, root := range []string{"data", "testdata"} {
		err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || (root == "data" && strings.HasPrefix(path, "roster/")) || (root == "testdata" && !strings.HasPrefix(path, "roster/")) {
				return err
			}
			if !strings.HasSuffix(path, ".txt") && !strings.HasSuffix(path, ".csv") {
				return nil
			}
			b, err := os.ReadFile(root + "/" + path)
			files[path] = &fstest.MapFile{Data: b}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	files[data.MusicPath] = &fstest.MapFile{Data: []byte("team,music\nany,1\n")}
	change(files)
	return data.Load(files)
}

// ring is a match of the kit in phase Live that a test drives frame by frame.
type ring struct {
	t  testing.TB
	r  *data.Roster
	w  World
	in [2]Input
}

// newRing starts a match under a ruleset: teams of Anvil, Quill and Rivet, as many as the format has, the point of each apart
// centimetres from the other.
func newRing(t testing.TB, rules Ruleset, format Format, apart int) *ring {
	t.Helper()
	g := &ring{t: t, r: kit(t)}
	g.reset(rules, format, 1)
	g.live(apart)
	return g
}

func (g *ring) reset(rules Ruleset, format Format, seed uint64) {
	g.t.Helper()
	c := Config{Seed: seed, Ruleset: rules, Format: format, Rounds: 2}
	for side := range c.Teams {
		for k := range format.Roster() {
			c.Teams[side][k] = FighterID(k + 1)
		}
	}
	if err := g.w.reset(g.r, c); err != nil {
		g.t.Fatal(err)
	}
	g.in = [2]Input{}
}

// live runs to the start of the round and puts the points in place.
func (g *ring) live(apart int) {
	g.t.Helper()
	g.until(2000, 0, 0, "the round", func() bool { return g.w.Phase() == Live })
	g.apart(apart)
}

func (g *ring) apart(apart int) {
	g.p(0).X, g.p(1).X = -Fixed(apart)<<15, Fixed(apart)<<15
}

func (g *ring) step(a, b uint16) {
	g.t.Helper()
	for p, now := range []uint16{a, b} {
		g.in[p] = Input{Now: now, Prev: g.in[p].Now}
	}
	g.w.step(g.r, g.in[:], Emit)
	if err := g.w.valid(g.r); err != nil {
		g.t.Fatalf("frame %d: %v", g.w.frame, err)
	}
}

func (g *ring) run(n int, a, b uint16) {
	g.t.Helper()
	for range n {
		g.step(a, b)
	}
}

func (g *ring) until(n int, a, b uint16, what string, done func() bool) int {
	g.t.Helper()
	for i := range n {
		if done() {
			return i
		}
		g.step(a, b)
	}
	if !done() {
		g.t.Fatalf("%s did not come within %d frames: %s, %s", what, n, g.p(0).Action, g.p(1).Action)
	}
	return n
}

// p is the point of a side.
func (g *ring) p(side int) *Fighter { return &g.w.fighters[g.w.point[side]] }

func (g *ring) move(key string) *data.Move {
	g.t.Helper()
	m := g.r.Fighter(1).MoveByKey(key)
	if m == nil {
		g.t.Fatalf("no move %s", key)
	}
	return m
}

// attack starts a move of the point of side 0, and gives it.
func (g *ring) attack(key string, other uint16) *data.Move {
	g.t.Helper()
	m := g.r.Fighter(g.p(0).ID).MoveByKey(key)
	g.step(command(m, g.p(0).Facing), other)
	if g.p(0).Action != Attack || g.p(0).Move != m.ID {
		g.t.Fatalf("%s did not start: %s, move %d, %v", key, g.p(0).Action, g.p(0).Move, g.w.canActivate(g.r, int(g.w.point[0]), m.ID))
	}
	return m
}

// has tells whether the last step reported an event of a kind, and gives its value.
func (g *ring) has(k EventKind) (int32, bool) {
	for _, e := range g.w.Events() {
		if e.Kind == k {
			return e.Value, true
		}
	}
	return 0, false
}

// landed tells whether the last step had a hit that was not blocked.
func (g *ring) landed() bool {
	for _, h := range g.w.Hits() {
		if !h.Blocked {
			return true
		}
	}
	return false
}
