package data

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TAG-01, TAG-02, TAG-03, TAG-04, TAG-05, TAG-07, TAG-08, TAG-10, X-15, G-13: the table loads; its counts by root and family;
// what is not in it.
func TestTags(t *testing.T) {
	tags := &Embedded().Tags
	if tags.Len() != 113 || !slices.Equal(tags.Roots(), []string{"Action", "Rules", "State", "Style"}) {
		t.Fatalf("%d tags, roots %v", tags.Len(), tags.Roots())
	}
	for path, want := range map[string]int{"State": 53, "Action": 27, "Style": 20, "Rules": 9, "State.Stance": 32, "State.Status": 14,
		"State.Emotion": 7, "Style.Weapon": 9, "Rules.Mode": 8, "Action.Cancel": 5, "Action.Tag": 2,
		"Cancel": 0, "Weapon": 0, "Submission": 0, "Position": 0, "Stipulation": 0, "Stage.Hotspot": 0} {
		if got := len(tags.Under(path)); got != want {
			t.Errorf("%d under %s, want %d", got, path, want)
		}
	}
	for _, name := range strings.Fields("Action.Light Action.Medium Action.Heavy Action.Special Action.Super Action.Throw Action.Taunt Action.StanceSwitch " +
		"Action.Counter Action.Cancel.Special Action.Cancel.Super Action.Cancel.X-Ray Action.Cancel.Drive Action.Cancel.Heat Action.Tag.In Action.Tag.Out " +
		"Action.Assist.Call Style.Boxing Style.Judo Style.Karate Style.Kickboxing Style.LuchaLibre Style.MartialArts Style.MuayThai Style.Sambo " +
		"Style.Streetfighting Style.Submissions Style.Wrestling Rules.Mode Rules.Mode.MK Rules.Mode.SF Rules.Mode.Tekken Rules.Mode.WWE Rules.Mode.UFC " +
		"Rules.Mode.SoulCalibur Rules.Mode.DefJam Rules.Mode.TagTeam State.Stance.Invincible State.Stance.Tekken.Hwoarang.Flamingo " +
		"State.Stance.Tekken.Lei.Crane State.Stance.Tekken.Lei.Dragon") {
		tag := tags.ByName(name)
		if tag == 0 || tags.Name(tag) != name {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"Cancel", "Weapon", "Submission", "Position", "Stipulation", "Stage.Hotspot", "Cancel.Special", "Weapon.Sword", "State.Stance", ""} {
		if tags.ByName(name) != 0 {
			t.Errorf("%q is there", name)
		}
	}
	masks := map[TagMask]bool{}
	for _, name := range tags.Under("State") {
		masks[tags.State(name)] = true
	}
	if len(masks) != 53 || masks[0] || tags.State("Action.Light") != 0 || tags.State("State") != 0 {
		t.Errorf("%d bits for the tags under State", len(masks))
	}
	for m, mask := range Embedded().Marks {
		if mask == 0 {
			t.Errorf("mark %d", m)
		}
	}
	for r := Rules(0); r < RulesCount; r++ { // the order of the rulesets is that of the modes, by name
		found := false
		for _, name := range tags.Under("Rules.Mode") {
			found = found || strings.EqualFold(strings.TrimPrefix(name, "Rules.Mode."), r.String())
		}
		if !found {
			t.Errorf("no tag for %s", r)
		}
	}
}

// FEEL-12, FEEL-13, FEEL-14, FEEL-15, FEEL-16, FEEL-17, FEEL-18, V-25: nine shakes, each with a limit for reduced motion below
// it; Fatality above KO.
func TestShakes(t *testing.T) {
	r := Embedded()
	if CatalogID != "GameFeel.Catalog.V2" || len(r.Shakes) != 9 {
		t.Fatalf("%d shakes", len(r.Shakes))
	}
	by := map[string]Shake{}
	for _, s := range r.Shakes {
		if by[s.Name] = s; s.Reduced >= s.Base {
			t.Errorf("%+v", s)
		}
	}
	if by["Small"] != (Shake{"Small", 2000, 1200}) || by["KO"] != (Shake{"KO", 10000, 3500}) || by["Fatality"] != (Shake{"Fatality", 12000, 3500}) {
		t.Errorf("%v", by)
	}
	// FEEL-21
	for _, c := range []struct {
		offsets, rotations []int32
		o, r               int32
	}{{[]int32{30, 40}, []int32{4, 5}, 50, 9}, {[]int32{-60, 20}, []int32{-8, -8}, -40, -10}, {nil, nil, 0, 0}} {
		if o, r := FoldShakes(c.offsets, c.rotations); o != c.o || r != c.r {
			t.Errorf("%v: %d, %d", c, o, r)
		}
	}
}

// FEEL-22, FEEL-23, HITB-12, FDAT-02: what is wrong in the newer tables and keys is refused with its place and a reason.
func TestMoreRefusals(t *testing.T) {
	const sable, mk, tags = "roster/sable.txt", "balance/rulesets/mk.txt", TagsPath
	first := "[move 2h]"
	for _, c := range []struct{ path, old, new, reason string }{
		{ShakePath, "Fatality", "Finisher", "the shake Fatality is missing"},
		{ShakePath, "Fatality,12000,3500", "Fatality,9000,3500", "must be stronger than KO"},
		{ShakePath, "KO,10000,3500", "KO,10000,10000", "is not a whole number in 0…9999"},
		{ShakePath, "Small,2000,1200\n", "", "8 curves, not 9"},
		{tags, "State.Emotion.Angry\n", "", "112 tags, not 113"},
		{tags, "State.Stance.Walking", "State.Stance.Aalking", "must stand before"},
		{tags, "Style.Wrestling", "Tribe.Wrestling", "has no root Tribe"},
		{tags, "State.Status.XFactor", "State.Status.YFactor", "State.Status.XFactor is missing"},
		{mk, "[node mk-finisher-window]", "[node tea-break]", `"tea-break" is not one of`},
		{mk, "entry = finisher-window", "entry = match-end", "both begins and ends it"},
		{mk, "blocks-input = no", "blocks-input = maybe", "is not one of no, yes"},
		{mk, "frames = 300", "frames = 0", "frames 0 is outside"},
		{mk, "mk-stamina = 200 200 1 3", "mk-stamina = 200 300 1 3", "mk-stamina 300 is outside 0…200"},
		{mk, "mk-stamina = 200 200 1 3", "mk-stamina = 200 200 1", "want the most"},
		{mk, "launch-impulse = 200 480", "launch-impulse = 200", "want two speeds"},
		{"balance/rulesets/tekken.txt", "heat = 100 0 1 60", "", "heat-frames needs heat"},
		{mk, "round-seconds = 99 150 180", "round-seconds = 99 150 180 200", "round-seconds has 4 values, not 1…3"},
		{mk, "round-seconds = 99 150 180", "round-seconds = 99 5000", "round-seconds 5000 is outside"},
		{mk, "multiplier = 1.00 1.25 1.50", "multiplier = 1 1 1 1", "multiplier has 4 values, not 1…3"},
		{MechanicsPath, "AssistCall,360", "AssistCall,36000", "not a whole number in 0…3600"},
		{MechanicsPath, "TagCancel,0", "TagDancel,0", "where TagCancel belongs"},
		{MechanicsPath, "XFactorPandora,0,900,0,30,130,115\n", "", "6 rows, not 7"},
		{TuningPath, "TagOut,16\n", "", "4 rows, not 5"},
		{PairsPath, "any>any", "any>sable", "the row any>any is missing"},
		{PairsPath, "any>any", "any>nobody", "is not two fighters"},
		{PairsPath, "any>any,yes", "any>any,maybe", "neither yes nor no"},
		{MusicPath, "any,1\n", "", "the row any is missing"},
		{MusicPath, "gorse+sable,3", "gorse+nobody,3", "different fighters joined by +"},
		{MusicPath, "gorse+sable,3", "gorse+gorse,3", "different fighters joined by +"},
		{MusicPath, "gorse+tarn,6", "gorse+tarn,0", "not a whole number in 1…255"},
		{MusicPath, "gorse+sable+vesper,5", "gorse+sable+tarn,5", "gorse+sable+tarn"},
		{sable, first, first + "\nkind = tekken-rage-art", "does not belong to family strike"},
		{sable, first, first + "\nrules = chess", `"chess" is not one of mk`},
		{sable, first, first + "\nenters = crane", `"crane" is not one of`},
		{sable, first, first + "\nneed = luck", `"luck" is not one of heat`},
		{sable, first, first + "\ncosmetic = yes", "a cosmetic move has neither hits nor a shot"},
		{sable, first, first + "\nrequires = Action.Light", "is not a tag under State"},
		{sable, first, first + "\ntag = State.Stance.Standing", "is not a tag under Action"},
		{sable, first, first + "\nalso = 2 sphere 1 2 3", "also 2 is outside 1…1"},
		{sable, first, first + "\nalso = 1 sphere 1 2 0", "the radius must be above 0"},
		{sable, first, first + "\nalso = 1 sphere 1 2", "a sphere is 3 numbers"},
		{sable, first, first + "\nkeyframe = 1 99 damage 5", "keyframe 99 is outside"},
		{sable, first, first + "\nkeyframe = 1 10", "it changes nothing"},
		{sable, first, first + "\nkeyframe = 1 11 damage 5\nkeyframe = 1 10 damage 6", "must come after frame 11"},
		{sable, first, first + "\nkrushing-blow = luck 3 4", `"luck" is not one of counter`},
		{sable, first, first + "\nheat-smash = yes", "heat-smash needs need = heat"},
		{sable, first, first + "\ncost = 5\nkara = throw", "cannot be kara-cancelled"},
		{sable, "[fighter sable]", "[fighter sable]\nstance = crane Tekken.Lei.Crane 6 90", "want a name, a tag"},
		{sable, "[fighter sable]", "[fighter sable]\nstance = crane Tekken.Lei.Heron 6 90 5", "is not in tags/tags.txt"},
	} {
		m := copyOf(t)
		if !edit(m, c.path, c.old, c.new) {
			t.Errorf("%q does not stand in %s", c.old, c.path)
			continue
		}
		_, err := Load(m)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
		}
	}
	if FeelPath("balance/feel/hitstop_curves.csv") != nil {
		t.Error("the canonical path is refused")
	}
	for _, path := range []string{"feel/hitstop_curves.csv", "balance/feel/../x.csv", "balance/feel/hitstop.json", "/balance/feel/a.csv"} {
		if err := FeelPath(path); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := parseShakes("tuning/shake.csv", nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	for r := Rules(0); r < RulesCount; r++ {
		m := copyOf(t)
		delete(m, "balance/rulesets/"+r.String()+".txt")
		if _, err := Load(m); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), r.String()) {
			t.Errorf("without %s: %v", r, err)
		}
	}
}

// TAGT-16: a team has its music whatever the order of its fighters, and every team has some.
func TestTeamMusic(t *testing.T) {
	m := copyOf(t)
	m[MusicPath] = &fstest.MapFile{Data: []byte("team,music\nany,7\nsable+tarn,8\nsable+tarn+vesper,9\n")}
	r, err := Load(m)
	if err != nil {
		t.Fatal(err)
	}
	id := func(name string) FighterID {
		if f := r.FighterByKey(name); f != nil {
			return f.ID
		}
		return 0
	}
	for _, c := range []struct {
		team [3]string
		want uint8
	}{{[3]string{"tarn", "sable"}, 8}, {[3]string{"sable", "tarn"}, 8}, {[3]string{"vesper", "tarn", "sable"}, 9}, {[3]string{"sable"}, 7},
		{[3]string{"tarn", "vesper"}, 7}, {[3]string{"sable", "tarn", "gorse"}, 7}, {[3]string{"tarn", "sable", "tarn"}, 8}} {
		if got := r.Team.Music([3]FighterID{id(c.team[0]), id(c.team[1]), id(c.team[2])}); got != c.want {
			t.Errorf("%v: %d, want %d", c.team, got, c.want)
		}
	}
}

// The most particular row of the pairing table counts.
func TestPairs(t *testing.T) {
	m := copyOf(t)
	m[PairsPath] = &fstest.MapFile{Data: []byte("pair,tag_cancel,dhc,cross_ip,cinematic\nany>any,yes,yes,yes,yes\nany>tarn,yes,yes,yes,no\nsable>any,yes,yes,no,yes\nsable>tarn,no,yes,yes,yes\n")}
	r, err := Load(m)
	if err != nil {
		t.Fatal(err)
	}
	sable, tarn := r.FighterByKey("sable").ID, r.FighterByKey("tarn").ID
	for _, c := range []struct {
		from, to FighterID
		want     Pair
	}{{sable, tarn, Pair{sable, tarn, false, true, true, true}}, {tarn, tarn, Pair{0, tarn, true, true, true, false}},
		{sable, sable, Pair{sable, 0, true, true, false, true}}, {tarn, sable, Pair{0, 0, true, true, true, true}}} {
		if got := r.Team.Pair(c.from, c.to); got != c.want {
			t.Errorf("%d>%d: %+v", c.from, c.to, got)
		}
	}
}

// ABIL-14, ABIL-15, ABIL-16: twelve families, twenty-one kinds, each kind in one family, nine of them supers of one ruleset.
func TestKinds(t *testing.T) {
	families, supers := map[Family]bool{}, 0
	for k := range Kind(Kinds) {
		families[k.Family()] = true
		if _, only := k.Rules(); only {
			if supers++; k.Family() != SuperFamily {
				t.Errorf("%s", k)
			}
		}
	}
	if len(families) != Families || supers != 9 || Kind(99).String() != "unknown" {
		t.Fatalf("%d families, %d supers", len(families), supers)
	}
	for f := range Family(Families) {
		if kindOf(f).Family() != f {
			t.Errorf("family %d", f)
		}
	}
}
