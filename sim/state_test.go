package sim

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"backstep/sim/data"
)

// sample gives worlds from all over a match.
func sample(t testing.TB, n int) []World {
	w := newWorld(t, 77, "tarn", "sable")
	var out []World
	for f, in := range tape(77, 40*n) {
		w.Step(in[:], Emit)
		if f%40 == 39 {
			out = append(out, w)
		}
	}
	return out
}

// The encoding is canonical: it starts with seed, frame and count, little-endian, reads back to the same state, and every strict
// prefix and every longer string is refused.
func TestEncodingRoundTrip(t *testing.T) {
	for _, w := range sample(t, 100) {
		b := w.AppendState(nil)
		if b[0] != 77 || b[1] != 0 || int32(b[8])|int32(b[9])<<8|int32(b[10])<<16|int32(b[11])<<24 != w.Frame() || b[12] != 2 {
			t.Fatalf("starts with % x", b[:13])
		}
		var back World
		if err := back.ParseState(b); err != nil {
			t.Fatal(err)
		}
		if !back.Equal(&w) || back.Hash() != w.Hash() || !bytes.Equal(back.AppendState(nil), b) {
			t.Fatal("not the same state")
		}
		keep := back
		if err := back.ParseState(append(b, 0)); !errors.Is(err, ErrState) || back != keep {
			t.Fatalf("one byte more: %v", err)
		}
		if got := w.AppendState([]byte{1, 2}); !bytes.Equal(got[2:], b) || got[0] != 1 {
			t.Fatal("AppendState does not append")
		}
	}
	w := sample(t, 1)[0]
	b := w.AppendState(nil)
	keep := w
	for n := range b {
		if err := w.ParseState(b[:n]); !errors.Is(err, ErrState) || w != keep {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

// SIM-03, SIM-04, SIM-05, SIM-06, SNAP-01, SNAP-02, SNAP-03: every field of the state is in the encoding, so no part of it can
// escape snapshot and hash.
func TestEveryFieldIsEncoded(t *testing.T) {
	w := sample(t, 30)[29]
	base := w.AppendState(nil)
	fields := 0
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
		flip := func(change, undo func()) {
			fields++
			change()
			if bytes.Equal(w.AppendState(nil), base) {
				t.Errorf("%s is not encoded", path)
			}
			undo()
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.Array:
			for i := range v.Len() {
				if v.Type() == reflect.TypeFor[[MaxFighters]Fighter]() && i >= int(w.count) {
					break
				}
				walk(v.Index(i), path+"[]")
			}
		case reflect.Bool:
			flip(func() { v.SetBool(!v.Bool()) }, func() { v.SetBool(!v.Bool()) })
		case reflect.Int8, reflect.Int16, reflect.Int32:
			flip(func() { v.SetInt(v.Int() ^ 1) }, func() { v.SetInt(v.Int() ^ 1) })
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			if path == "state.count" {
				return
			}
			flip(func() { v.SetUint(v.Uint() ^ 1) }, func() { v.SetUint(v.Uint() ^ 1) })
		default:
			t.Fatalf("%s is a %s: the state holds only numbers", path, v.Kind())
		}
	}
	walk(reflect.ValueOf(&w).Elem().FieldByName("state"), "state")
	if !bytes.Equal(w.AppendState(nil), base) || fields < 150 {
		t.Fatalf("%d fields", fields)
	}
}

// SIM-26: a World is comparable and holds nothing that points.
func TestWorldIsAPlainValue(t *testing.T) {
	if n := unsafe.Sizeof(World{}); n > 3400 {
		t.Fatalf("a World takes %d bytes", n)
	}
	var plain func(reflect.Type) bool
	plain = func(x reflect.Type) bool {
		switch x.Kind() {
		case reflect.Struct:
			for i := range x.NumField() {
				if !plain(x.Field(i).Type) {
					return false
				}
			}
			return true
		case reflect.Array:
			return plain(x.Elem())
		}
		return reflect.Bool <= x.Kind() && x.Kind() <= reflect.Uint64
	}
	for _, part := range []reflect.Type{reflect.TypeOf(state{}), reflect.TypeOf(outputs{})} {
		if !plain(part) {
			t.Fatalf("%v holds more than numbers", part)
		}
	}
	a := newWorld(t, 1, "sable", "tarn")
	b := a
	b.Step(nil, Emit)
	if a.Frame() != -1 || a.Equal(&b) {
		t.Fatal("a copy is not a copy")
	}
}

// SNAP-16: whatever the bytes, ParseState either gives a state that encodes to them and can be stepped, or changes nothing.
func TestParseStateRefusesImpossibleStates(t *testing.T) {
	w := sample(t, 20)[19]
	b := w.AppendState(nil)
	refused := 0
	for i := range b {
		for _, bit := range []byte{1, 0x80} {
			d := bytes.Clone(b)
			d[i] ^= bit
			checkParse(t, d, &refused)
		}
	}
	if refused < len(b)/4 {
		t.Fatalf("only %d of %d changes were refused", refused, 2*len(b))
	}
}

func checkParse(t *testing.T, b []byte, refused *int) {
	var w World
	if err := w.ParseState(b); err != nil {
		if !errors.Is(err, ErrState) || w != (World{}) {
			t.Fatalf("half restored: %v", err)
		}
		*refused++
		return
	}
	if !bytes.Equal(w.AppendState(nil), b) {
		t.Fatal("not canonical")
	}
	for _, in := range tape(1, 90) {
		w.Step(in[:], Emit)
	}
}

func FuzzParseState(f *testing.F) {
	for _, w := range sample(f, 12) {
		f.Add(w.AppendState(nil))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		checkParse(t, b, &n)
	})
}

// SIM-02, SNAP-16: a snapshot carries the frame's inputs and restores; a made-up one is refused and changes nothing.
func TestSnapshot(t *testing.T) {
	d := newDuel(t, "sable", "tarn", 100)
	d.step(RightBit, LeftBit|LightBit)
	s := d.w.CaptureSnapshot()
	if s.Frame() != d.w.Frame() || s.Inputs()[1].Now != LeftBit|LightBit {
		t.Fatalf("%d, %v", s.Frame(), s.Inputs())
	}
	want := d.w.Hash()
	d.run(50, RightBit, 0)
	if err := d.w.RestoreSnapshot(&s); err != nil || d.w.Hash() != want {
		t.Fatal(err)
	}
	before := d.w
	for _, bad := range []Snapshot{{}, func() Snapshot { x := s; x.state.fighters[0].X++; return x }()} {
		if err := d.w.RestoreSnapshot(&bad); !errors.Is(err, ErrState) || d.w != before {
			t.Fatalf("a snapshot nobody captured: %v", err)
		}
	}
}

// HASH-06, SIM-25: the hash of played matches under every ruleset and format is the same in every process and on every
// machine. A change of the engine, the rules or the kit changes it; a change of the engine belongs to another Version.
func TestPinnedHash(t *testing.T) {
	g := &ring{t: t, r: kit(t)}
	h := uint64(14695981039346656037)
	hits := 0
	for rules := range Ruleset(data.RulesCount) {
		for format := range formats {
			g.reset(rules, format, uint64(rules)*10+uint64(format))
			for f, in := range busyTape(uint64(rules)*10+uint64(format), 1500) {
				enrich(&g.w, f)
				g.w.step(g.r, in[:], Emit)
				hits += len(g.w.Hits())
			}
			h = (h ^ g.w.Hash()) * 1099511628211
		}
	}
	const want = 0xad38b24fc39a9002
	if h != want || hits < 150 {
		t.Fatalf("hash %#016x after %d hits, want %#016x", h, hits, uint64(want))
	}
}

// HASH-01, HASH-02, HASH-07: the hash follows seed, frame, every fighter and the match.
func TestHash(t *testing.T) {
	w := newWorld(t, 42, "sable", "tarn")
	for name, change := range map[string]func(*World){
		"seed": func(w *World) { w.seed++ }, "frame": func(w *World) { w.frame++ }, "fighter 0": func(w *World) { w.fighters[0].X++ },
		"fighter 1": func(w *World) { w.fighters[1].SuperMeter++ }, "match": func(w *World) { w.match.Timer-- }, "generator": func(w *World) { w.random.State++ },
	} {
		c := w
		if change(&c); c.Hash() == w.Hash() {
			t.Errorf("the hash does not see %s", name)
		}
	}
	if w.FighterHash(0) == w.FighterHash(1) || w.FighterHash(2) != 0 || w.FighterHash(-1) != 0 {
		t.Error("fighter hashes")
	}
	r := w.Step(nil, Emit)
	if r.Frame != 0 || r.Hash() != w.Hash() || r.Free != w.Free() {
		t.Errorf("tick result %+v", r)
	}
	if (TickResult{}).Hash() != 0 {
		t.Error("an empty result")
	}
}

// A world that was never reset stays as it is and accepts its own encoding.
func TestZeroWorld(t *testing.T) {
	var w World
	r := w.Step([]Input{{Now: LightBit}}, Emit)
	if w != (World{}) || r.Frame != 0 || w.Free() || w.Phase() != Uninitialized {
		t.Fatalf("%+v", r)
	}
	var back World
	if err := back.ParseState(w.AppendState(nil)); err != nil || back != w {
		t.Fatal(err)
	}
	if w.Fighter(0) != (Fighter{}) || w.Fighter(-1) != (Fighter{}) || w.Active(-1) || w.Active(9) {
		t.Fatal("slots outside")
	}
}

// Missing words are neutral, further ones are ignored.
func TestStepTakesAnyNumberOfWords(t *testing.T) {
	a := newDuel(t, "sable", "tarn", 200).w
	b, c := a, a
	a.Step([]Input{{Now: RightBit}, {}}, Emit)
	b.Step([]Input{{Now: RightBit}}, Emit)
	c.Step([]Input{{Now: RightBit}, {}, {Now: LightBit}}, Emit)
	if !a.Equal(&b) || !a.Equal(&c) {
		t.Fatal("they differ")
	}
}

func TestConfig(t *testing.T) {
	good := DefaultConfig()
	if err := good.Valid(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		want   error
	}{
		"ruleset": {func(c *Config) { c.Ruleset = data.RulesCount }, ErrRuleset}, "no ruleset": {func(c *Config) { c.Ruleset = 99 }, ErrRuleset},
		"format": {func(c *Config) { c.Format = 7 }, ErrFormat}, "half a team": {func(c *Config) { c.Format = Format3v3 }, ErrFighter}, "rounds 0": {func(c *Config) { c.Rounds = 0 }, ErrRounds},
		"rounds": {func(c *Config) { c.Rounds = 6 }, ErrRounds}, "fighter": {func(c *Config) { c.Teams[1][0] = 200 }, ErrFighter},
		"nobody": {func(c *Config) { c.Teams[0][0] = 0 }, ErrFighter}, "too many": {func(c *Config) { c.Teams[0][1] = 1 }, ErrFighter},
	} {
		bad := good
		c.change(&bad)
		w := newWorld(t, 3, "sable", "tarn")
		before := w
		if err := w.Reset(bad); !errors.Is(err, c.want) || w != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := AppendConfig(nil, good)
	back, err := ParseConfig(b)
	if err != nil || back != good || len(b) != ConfigSize {
		t.Fatal(err)
	}
	if _, err := ParseConfig(b[1:]); !errors.Is(err, ErrConfig) {
		t.Fatal(err)
	}
	w := newWorld(t, 3, "tarn", "sable")
	if got := w.Config(); got.Teams != [2][3]FighterID{{2}, {1}} || got.Seed != 3 {
		t.Fatalf("%+v", got)
	}
	if _, err := ParseTeam("sable,nobody"); !errors.Is(err, ErrFighter) {
		t.Fatal(err)
	}
	if _, err := ParseTeam("sable,sable,sable,sable"); !errors.Is(err, ErrFighter) {
		t.Fatal(err)
	}
	if r, err := ParseRuleset("sf"); err != nil || r != data.SF {
		t.Fatal(err)
	}
	if _, err := ParseRuleset("chess"); !errors.Is(err, ErrRuleset) {
		t.Fatal(err)
	}
	if f, err := ParseFormat("trinity"); err != nil || f != FormatTrinity || f.Roster() != 3 {
		t.Fatal(err)
	}
	if _, err := ParseFormat("4v4"); !errors.Is(err, ErrFormat) {
		t.Fatal(err)
	}
	if DataHash() == 0 || DataHash() != data.Embedded().Hash() {
		t.Fatal("data hash")
	}
}
