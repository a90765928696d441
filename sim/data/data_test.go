package data

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"backstep/sim/fixed"
)

// copyOf gives the embedded files as files a test may change.
func copyOf(t testing.TB) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		out[path] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func edit(m fstest.MapFS, path, old, new string) bool {
	before := string(m[path].Data)
	after := strings.Replace(before, old, new, 1)
	m[path] = &fstest.MapFile{Data: []byte(after)}
	return before != after
}

// FEEL-04, FEEL-06, FEEL-07, FEEL-08, FEEL-09, FEEL-10: the rows the sources give, as they give them.
func TestHitstopRows(t *testing.T) {
	want := []Hitstop{
		{"MK.Small", 3, 4, 3, 2, 3, true}, {"MK.Heavy", 8, 10, 8, 3, 5, true}, {"MK.Launcher", 9, 12, 9, 3, 5, true},
		{"SF6.Heavy", 6, 7, 5, 2, 4, true}, {"SC.WeaponClash", 7, 9, 6, 3, 4, true},
	}
	for _, w := range want {
		if !slices.Contains(Embedded().Hitstops, w) {
			t.Errorf("no row %+v", w)
		}
	}
	for _, h := range Embedded().Hitstops {
		if h.CounterHit < 2 || h.CounterHit > 3 || !h.RollbackExcluded {
			t.Errorf("%+v", h)
		}
	}
}

// bound tells whether a move has a command under some ruleset, or is what a partner calls.
func bound(f *Fighter, m *Move) bool {
	for r := range Rules(RulesCount) {
		if m.Under(r) && f.CommandIn(r, m.In, m.From, m.Button, m.Direction) == m.ID {
			return true
		}
	}
	return m.Family == AssistCall
}

// Four fighters with clearly different plans, each with sixteen moves or more; every move complete (FDAT-03), in order and with
// its own place.
func TestRoster(t *testing.T) {
	r := Embedded()
	if len(r.Fighters()) < 4 {
		t.Fatal("fewer than four fighters")
	}
	for _, f := range r.Fighters() {
		if r.Fighter(f.ID) != f || r.FighterByKey(f.Key) != f || f.Name == "" || f.Plan == "" || f.Moves() < 16 {
			t.Errorf("%s: id %d, %d moves", f.Key, f.ID, f.Moves())
		}
		for id := MoveID(1); int(id) <= f.Moves(); id++ {
			m := f.Move(id)
			if m.ID != id || !m.HasCompleteFrameData() || f.MoveByKey(m.Key) != m || !bound(f, m) {
				t.Errorf("%s %s", f.Key, m.Key)
			}
			if m.Total != m.Startup+m.Active+m.Recovery {
				t.Errorf("ABIL-08: %s %s takes %d", f.Key, m.Key, m.Total)
			}
		}
		if f.Move(0) != nil || f.Move(MoveID(f.Moves()+1)) != nil || f.MoveByKey("none") != nil {
			t.Error("moves that are not there")
		}
		if f.Command(Ground, Light, Back) != f.Command(Ground, Light, Neutral) {
			t.Errorf("%s: a direction without its own move must give the button's", f.Key)
		}
	}
	sable, tarn := r.FighterByKey("sable"), r.FighterByKey("tarn")
	longest := func(f *Fighter) (l fixed.Q) {
		for id := MoveID(1); int(id) <= f.Moves(); id++ {
			if m := f.Move(id); m.Button <= Heavy && m.From == Ground {
				l = max(l, m.Hits[0].X+m.Hits[0].HW)
			}
		}
		return l
	}
	if sable.WalkForward <= tarn.WalkForward || longest(tarn) < 3*longest(sable)/2 {
		t.Error("the two plans do not differ")
	}
	if r.Fighter(0) != nil || r.FighterByKey("nobody") != nil || r.Ruleset(RulesCount) != nil || r.Ruleset(SF) == nil {
		t.Error("what is not there")
	}
}

// A half of a complete move is not complete.
func TestHasCompleteFrameData(t *testing.T) {
	good := *Embedded().FighterByKey("sable").MoveByKey("5m")
	if !good.HasCompleteFrameData() {
		t.Fatal("5m")
	}
	for name, change := range map[string]func(m *Move){
		"startup": func(m *Move) { m.Startup = 0 }, "active": func(m *Move) { m.Active = 0 }, "recovery": func(m *Move) { m.Recovery = 0 },
		"damage": func(m *Move) { m.Damage = 0 }, "hitstop": func(m *Move) { m.Feel = Hitstop{} }, "hits": func(m *Move) { m.Hits = nil },
		"stun": func(m *Move) { m.Hits = []Window{{Span: Span{1, 2}}} }, "total": func(m *Move) { m.Total++ }, "name": func(m *Move) { m.Name = "" },
		"class": func(m *Move) { m.Class = 3 }, "shot without stun": func(m *Move) { m.Hits, m.Shot.Spawn = nil, 3 },
	} {
		m := good
		if change(&m); m.HasCompleteFrameData() {
			t.Error(name)
		}
	}
}

// FDAT-02, HITB-12, ABIL-21: what is wrong is refused with file, line and reason.
func TestRefusals(t *testing.T) {
	const sable, sf, feel, timing = "roster/sable.txt", "balance/rulesets/sf.txt", HitstopPath, TimingPath
	cases := []struct{ path, old, new, reason string }{
		{sable, "startup = 8", "startup = 0", "startup 0 is outside 1…60"},
		{sable, "startup = 8", "startup = soon", `"soon" is not a whole number`},
		{sable, "startup = 8\n", "", "startup is missing"},
		{sable, "startup = 8\n", "statrup = 8\n", "statrup is not a key of this section; is it startup, which is missing?"},
		{sable, "startup = 8\n", "start-up = 8\n", "start-up is not a key of this section; is it startup"},
		{sable, "startup = 8\n", "starup = 8\n", "starup is not a key of this section; is it startup"},
		{sable, "startup = 8\n", "speed = 8\n", "startup is missing"},
		{sable, "startup = 8\n", "startup = 8\nstartup = 9\n", "startup stands twice"},
		{sable, "startup = 8\n", "startup = 8\ncolour = red\n", "colour is not a key of this section"},
		{sable, "damage = 70", "damage = 5000", "damage 5000 is outside"},
		{sable, "guard = mid", "guard = middle", `"middle" is not one of mid, high`},
		{sable, "hitstop = SF6.Heavy", "hitstop = SF7.Heavy", "is not a row of"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 9-14 44 150 30 46", "lies outside the active frames 9-13"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 10-13 44 150 30 46", "must begin and end with the active frames"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 13-9 44 150 30 46", "ends before it starts"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 9-13 44 150 0 46", "must be above 0"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 9-13 44 150 30", "a box is 4 numbers"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 9-13 44 150 30 46 colour 3", "neither damage nor priority nor reaction"},
		{sable, "hit = 9-13 44 150 30 46", "hit = 9-13 44 150 30 4600", "outside -600…600"},
		{sable, "hit = 9-13 44 150 30 46\n", "", "neither a hit nor a shot"},
		{sable, "cancel = 9-16 special super", "cancel = 9-16 special sideways", `"sideways" is not one of`},
		{sable, "on-hit = 3", "on-hit = -40", "would need a hitstun of"},
		{sable, "[move 2l]", "[move 2a]", "must stand before 2h"},
		{sable, "[move 2l]", "[move 2h]", "must stand before 2h"},
		{sable, "[move 2l]", "[mov 2l]", "every section must be [move KEY]"},
		{sable, "[move 2l]", "[move 2l", "must end with ]"},
		{sable, "direction = down\nfamily = strike\nposture = crouching\nstartup = 4", "direction = forward\nfamily = strike\nposture = crouching\nstartup = 6000", "startup 6000"},
		{sable, "[fighter sable]", "[fighter table]", "the fighter in it is table"},
		{sable, "[fighter sable]", "lonely = 1\n[fighter sable]", "before the first [section]"},
		{"roster/tarn.txt", "id = 2", "id = 1", "already belongs to"},
		{sable, "health = 980", "health", "neither a [section] nor a line of the form key = value"},
		{sable, "walk-forward = 4.4", "walk-forward = 4.40001", "not a decimal number"},
		{sable, "dash-forward = 9.5 15", "dash-forward = 9.5", "want a speed and a number of frames"},
		{sable, "throw-impact = 16", "throw-impact = 40", "throw-impact must lie before throw-total"},
		{sable, "name = Sable", "name = " + strings.Repeat("x", 500), "longer than 400 bytes"},
		{sable, "name = Sable", "name = \x01", "control character"},
		{sf, "combo = 1.00", "combo = 1.50", "more than 1.0000"},
		{sf, "gravity = 0.72", "gravity = 0", "must be above 0"},
		{sf, "[ruleset sf]", "[ruleset chess]", `"chess" is not one of mk, sf`},
		{sf, "[ruleset sf]", "[ruleset mk]", "the ruleset in it is mk"},
		{sf, "start-half = 130", "start-half = 400", "at least twice start-half"},
		{feel, "SF6.Heavy,6,7,5,2,4,true", "SF6.Heavy,6,7,5,2,4,false", "rollback_excluded must be true"},
		{feel, "SF6.Heavy,6,7,5,2,4,true", "SF6.Heavy,6,7,5,4,4,true", "counter_hit"},
		{feel, "SF6.Heavy,6,7,5,2,4,true", "SF6.Heavy,6,7,5,2,true", "6 columns, not 7"},
		{feel, "SF6.Heavy", "AA.Heavy", "must stand before"},
		{feel, "name,attacker", "name,defender", "the header must be"},
		{timing, "KOSlowMotion,48", "KOSlowMotion,0", "is not a whole number in 1…240"},
		{timing, "KOSlowMotion,48\n", "", "2 rows, not 3"},
	}
	for _, c := range cases {
		m := copyOf(t)
		if !edit(m, c.path, c.old, c.new) {
			t.Errorf("%q does not stand in %s", c.old, c.path)
			continue
		}
		_, err := Load(m)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.reason) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
		}
	}
	for _, gone := range []string{sf, HitstopPath, TimingPath} {
		m := copyOf(t)
		delete(m, gone)
		if _, err := Load(m); !errors.Is(err, ErrInvalid) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}

// G-10, DET-05, FEEL-24: the hash follows every value of every file and nothing else.
func TestHashFollowsValues(t *testing.T) {
	base := Embedded().Hash()
	load := func(m fstest.MapFS) uint64 {
		t.Helper()
		r, err := Load(m)
		if err != nil {
			t.Fatal(err)
		}
		return r.Hash()
	}
	if load(copyOf(t)) != base {
		t.Fatal("loading twice gives two hashes")
	}
	for _, c := range [][3]string{{"roster/tarn.txt", "damage = 84", "damage = 85"}, {"balance/rulesets/sf.txt", "friction = 0.75", "friction = 0.7501"},
		{HitstopPath, "SF6.Light,4", "SF6.Light,5"}, {TimingPath, "RageArtFreeze,45", "RageArtFreeze,44"}, {"roster/tarn.txt", "name = Tarn", "name = Torn"}} {
		m := copyOf(t)
		if !edit(m, c[0], c[1], c[2]) || load(m) == base {
			t.Errorf("%v changes nothing", c)
		}
	}
	m := copyOf(t)
	for path, f := range m {
		m[path] = &fstest.MapFile{Data: []byte("# a remark\r\n\r\n" + strings.ReplaceAll(string(f.Data), "\n", "   # more\r\n"))}
	}
	if load(m) != base {
		t.Error("remarks and line ends change the hash")
	}
}

func TestCheck(t *testing.T) {
	b, err := fs.ReadFile(files, "roster/sable.txt")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := Check("mine.txt", b); err != nil || f.Moves() != Embedded().FighterByKey("sable").Moves() {
		t.Fatal(err)
	}
	if _, err := Check("mine.txt", []byte("hello")); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "mine.txt:1") {
		t.Fatal(err)
	}
	if _, err := Check("mine.txt", make([]byte, maxFile+1)); !errors.Is(err, ErrInvalid) {
		t.Fatal(err)
	}
}

func TestRulesNames(t *testing.T) {
	for r := Rules(0); r < RulesCount; r++ {
		if back, ok := RulesByName(r.String()); !ok || back != r {
			t.Errorf("%d is %s is %d", r, r, back)
		}
	}
	if _, ok := RulesByName("chess"); ok || Rules(99).String() != "unknown" {
		t.Error("names that are none")
	}
}

// Whatever a file holds, it is accepted whole or refused with a reason, without a panic.
func FuzzCheck(f *testing.F) {
	b, err := fs.ReadFile(files, "roster/tarn.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:1500])
	f.Add([]byte("[fighter x]\nid = 1\n[move a]\nhit = 5 1 1 1 1 damage\n"))
	f.Add([]byte("[move\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := Check("f.txt", b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || k != nil {
				t.Fatal(err)
			}
			return
		}
		for id := MoveID(1); int(id) <= k.Moves(); id++ {
			if !k.Move(id).HasCompleteFrameData() {
				t.Fatalf("move %d is not complete", id)
			}
		}
	})
}

func FuzzFeel(f *testing.F) {
	for _, path := range []string{HitstopPath, TimingPath} {
		b, err := fs.ReadFile(files, path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if rows, err := parseHitstop("f.csv", b); (err == nil) != (len(rows) > 0) || (err != nil && !errors.Is(err, ErrInvalid)) {
			t.Fatal(err)
		}
		if _, err := parseTiming("f.csv", b); err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
		if _, err := parseRuleset("f.txt", b); err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	})
}
