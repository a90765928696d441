package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"testing"

	"backstep/peer/present"
	"backstep/sim"
	"backstep/sim/data"
)

func FuzzMessage(f *testing.F) {
	f.Add([]byte{inHello, '{', '}'})
	f.Add(append([]byte{inHello}, `{"token":"00112233445566778899aabbccddeeff","tab":"0011223344556677","mode":"play"}`...))
	f.Add([]byte{inInput, 1, 2, 3, 4, 5, 6})
	f.Add(append([]byte{inCommand}, `{"cmd":"option","dummy":"guard","latency_ms":120}`...))
	f.Add(append([]byte{inCommand}, `{"cmd":"chat","text":"gg"}`...))
	f.Add(append([]byte{inCommand}, `{"cmd":"settings","settings":{"version":1}}`...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if in, err := parseInput(b); err == nil {
			out := binary.LittleEndian.AppendUint16([]byte{inInput}, in.word)
			out = binary.LittleEndian.AppendUint16(out, in.word2)
			out = binary.LittleEndian.AppendUint16(out, in.seq)
			if !bytes.Equal(out, b) || (in.word|in.word2)&reserved != 0 {
				t.Fatalf("% x was read as %+v", b, in)
			}
		}
		if h, err := parseHello(b); err == nil && len(h.Tab) != 16 {
			t.Fatalf("tab %q", h.Tab)
		}
		if c, err := parseCommand(b); err == nil {
			if !commandNames[c.Cmd] || len(c.Team) > 3 || len(c.ID) > maxText {
				t.Fatalf("%+v", c)
			}
			raw, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := parseCommand(append([]byte{inCommand}, raw...))
			if err != nil {
				t.Fatalf("%s is refused: %v", raw, err)
			}
			c.Settings, again.Settings = nil, nil // spaces in it may differ
			if !reflect.DeepEqual(c, again) && len(c.Team) > 0 {
				t.Fatalf("%+v became %+v", c, again)
			}
		}
	})
}

func FuzzSettings(f *testing.F) {
	b, err := json.Marshal(DefaultSettings())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"version":1,"pads":{"x":{"up":["b1"]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSettings(b)
		if err != nil {
			return
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseSettings(out); err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%s is read as %+v, %v", out, again, err)
		}
	})
}

func TestSettingsRefuse(t *testing.T) {
	if b, err := json.Marshal(DefaultSettings()); err != nil {
		t.Fatal(err)
	} else if _, err := ParseSettings(b); err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	for name, change := range map[string]func(*Settings){
		"version":     func(s *Settings) { s.Version = 2 },
		"volume":      func(s *Settings) { s.Volume.Master = 101 },
		"bidi name":   func(s *Settings) { s.Name = "a\u202eb" },
		"escape":      func(s *Settings) { s.Name = "a\x1b[31m" },
		"palette":     func(s *Settings) { s.Palette = "rainbow" },
		"motion":      func(s *Settings) { s.ReducedMotion = "" },
		"hud":         func(s *Settings) { s.HUD = "huge" },
		"delay":       func(s *Settings) { s.Delay = "4" },
		"relay":       func(s *Settings) { s.Relay = "a b" },
		"language":    func(s *Settings) { s.Language = "../en" },
		"button":      func(s *Settings) { s.Keys[0]["fly"] = []string{"KeyA"} },
		"key":         func(s *Settings) { s.Keys[0]["up"] = []string{"<script>"} },
		"many keys":   func(s *Settings) { s.Keys[0]["up"] = []string{"KeyA", "KeyB", "KeyC", "KeyD", "KeyE"} },
		"pad control": func(s *Settings) { s.Pads["pad"] = Binding{"up": {"b32"}} },
	} {
		s := DefaultSettings()
		change(&s)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSettings(b); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestWords(t *testing.T) {
	clock := int64(1)
	w := Words{now: func() int64 { return clock }}
	take := func(want uint16) {
		t.Helper()
		if got := w.Take(0); got != want {
			t.Fatalf("%03x, want %03x", got, want)
		}
	}
	w.press(input{word: sim.LightBit})
	w.press(input{})
	take(sim.LightBit) // a tap between two frames counts once
	take(0)
	w.press(input{word: sim.LeftBit})
	take(sim.LeftBit)
	w.press(input{word: 0})
	w.press(input{word: sim.RightBit})
	take(sim.RightBit)
	w.press(input{word: sim.LeftBit})
	w.press(input{word: sim.RightBit})
	take(sim.RightBit) // rolled through left within a frame: the held one counts
	clock += heldMicros + 1
	take(0) // not repeated: released
	w.press(input{word: sim.UpBit, word2: sim.DownBit, seq: 9})
	if got := w.Take(1); got != sim.DownBit {
		t.Fatalf("second player %03x", got)
	}
	take(sim.UpBit)
	if w.Seq() != 9 {
		t.Fatalf("seq %d", w.Seq())
	}
	w.press(input{word: sim.UpBit | sim.HeavyBit})
	w.Release()
	take(0)
}

func testSnapshot() *Snapshot {
	var w sim.World
	if err := w.Reset(sim.DefaultConfig()); err != nil {
		panic(err)
	}
	a, b := new(present.State), new(present.State)
	a.Take(&w)
	w.Step([]sim.Input{{}, {}}, sim.Emit)
	b.Take(&w)
	return &Snapshot{Flags: Pair | Rewound, Match: 3, Kind: KindMatch, Side: 1, Confirmed: -1, ClockMillis: 77, Seq: 5, Depth: 2, Resimulated: 1,
		Previous: a, Current: b, Events: []sim.Event{{Frame: 0, Value: -2, X: -3, Y: 4, Fighter: 1, Kind: sim.EventHit, Serial: 2, Variant: 9}},
		Cancelled: []uint64{sim.Event{Frame: 6, Fighter: 1, Kind: sim.EventJump, Serial: 3}.ID()},
		Boxes:     []Box{{Slot: 1, Kind: 1, Shape: data.Shape{Kind: data.CapsuleShape, Box: data.Box{X: -sim.Fixed(1) << 16, Y: 1 << 15, HW: 1 << 16, HH: 1 << 13}, DX: -1 << 15, DY: 1 << 12, R: 1 << 14}}},
		Trail:     []present.Trail{{Words: [2]uint16{1, 2}, Codes: [2]present.Code{present.Startup, present.Hitstun | present.Frozen}, Depth: 2, Bits: present.Predicted}}}
}

// The bytes lie where docs/page.md says.
func TestSnapshotLayout(t *testing.T) {
	m := newMailbox()
	s := testSnapshot()
	s.Current.Scene = present.Scene{Node: 1, Frames: 300, Struggle: -2, Owner: 3, Target: 2, Fallen: 1, Score: [2]uint16{5, 65535}}
	m.snapshot(s.appendHead(nil), s.appendTail(nil), s)
	b, ok := m.take(nil)
	if !ok {
		t.Fatal("nothing")
	}
	le := binary.LittleEndian
	shots := int(s.Previous.ShotCount + s.Current.ShotCount)
	if want := headerLen + 2*matchLen + 2*2*fighterLen + shots*shotLen + eventLen + idLen + boxLen + trailLen; len(b) != want {
		t.Fatalf("%d bytes, want %d", len(b), want)
	}
	at := func(off int, want, got any) {
		if !reflect.DeepEqual(want, got) {
			t.Errorf("offset %d: %v, want %v", off, got, want)
		}
	}
	at(0, []byte{outSnapshot, snapshotLayout}, b[:2])
	at(2, uint16(Pair|Rewound), le.Uint16(b[2:]))
	at(4, uint16(3), le.Uint16(b[4:]))
	at(6, []byte{byte(KindMatch), 1}, b[6:8])
	at(8, uint32(0), le.Uint32(b[8:]))
	at(12, int32(-1), int32(le.Uint32(b[12:])))
	at(16, uint32(77), le.Uint32(b[16:]))
	at(20, uint16(5), le.Uint16(b[20:]))
	at(22, []byte{2, 1, 2, 3, 0, 1, s.Previous.ShotCount, s.Current.ShotCount, 1, 1, 1, 1, 0, 0}, b[22:36])
	at(36+8, int32(-1), int32(le.Uint32(b[36+8:])))
	m2 := headerLen + matchLen
	at(m2+12, byte(s.Current.Phase), b[m2+12])
	at(m2+20, []byte{0x2c, 1, 0xfe, 0xff, 1, 3, 2, 1, 5, 0, 0xff, 0xff}, b[m2+20:m2+32])
	at(headerLen+24, byte(present.NoScene), b[headerLen+24])
	f := s.Current.Fighters[1]
	o := headerLen + 2*matchLen + 3*fighterLen
	at(o, int32(f.X), int32(le.Uint32(b[o:])))
	at(o+16, f.Health, int32(le.Uint32(b[o+16:])))
	at(o+52, byte(f.ID), b[o+52])
	at(o+53, f.Facing, int8(b[o+53]))
	at(o+57, byte(f.Bits), b[o+57])
	at(o+85, byte(f.Code), b[o+85])
	e := b[len(b)-eventLen-idLen-boxLen-trailLen:]
	at(0, []byte{0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xfd, 0xff, 4, 0, 1, byte(sim.EventHit), 2, 9}, e[:16])
	at(16, []byte{6, 0, 0, 0, 1, byte(sim.EventJump), 3, 0}, e[16:24])
	at(24, []byte{1, 1, byte(formFalling), 0, 0xf0, 0xff, 8, 0, 16, 0, 2, 0, 4, 0}, e[24:38])
	at(38, []byte{1, 0, 2, 0, 1, 0x84, 2, 1}, e[38:46])
}

// Events of snapshots nobody fetched ride in the next one; one taken back
// before it was sent is never seen.
func TestMailboxKeepsEventsOfReplacedSnapshots(t *testing.T) {
	m := newMailbox()
	s := testSnapshot()
	send := func(events []sim.Event, cancelled []uint64) {
		s.Events, s.Cancelled = events, cancelled
		m.snapshot(s.appendHead(nil), s.appendTail(nil), s)
	}
	one, two := sim.Event{Frame: 1, Kind: sim.EventHit}, sim.Event{Frame: 2, Kind: sim.EventHit}
	send([]sim.Event{one}, nil)
	send([]sim.Event{two}, []uint64{one.ID()})
	b, _ := m.take(nil)
	if b[offEvents] != 1 || b[offCancelled] != 0 {
		t.Fatalf("%d events, %d cancelled", b[offEvents], b[offCancelled])
	}
	send(nil, []uint64{two.ID()})
	if b, _ = m.take(nil); b[offEvents] != 0 || b[offCancelled] != 1 {
		t.Fatalf("%d events, %d cancelled", b[offEvents], b[offCancelled])
	}
	if _, ok := m.take(nil); ok {
		t.Fatal("something was left")
	}
	for i := range int32(100) {
		send([]sim.Event{{Frame: i}}, nil)
	}
	if b, _ = m.take(nil); b[offEvents] != maxEvents {
		t.Fatalf("%d events", b[offEvents])
	}
	if m.replaced != 100 {
		t.Fatalf("%d replaced", m.replaced)
	}
}

func TestScreensSayTheirName(t *testing.T) {
	for _, s := range []Screen{{Title: &Title{}}, {Hosting: &Hosting{QR: EncodeQR("backstep://join#BCDF-GHJK@relay.example:3478")}}, {Joining: &Joining{}}, {Starting: &Starting{}},
		{Forecast: &Forecast{}}, {Select: &Select{}}, {Fight: &Fight{}}, {Result: &Result{}}, {Train: &TrainScreen{}}, {Replays: &Replays{}},
		{Theatre: &Theatre{}}, {Error: &ErrorScreen{}}, {Bye: &Bye{}}} {
		b, err := s.append(4)
		if err != nil || b[0] != outScreen {
			t.Fatal(err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b[1:], &m); err != nil {
			t.Fatal(err)
		}
		var name string
		if err := json.Unmarshal(m["screen"], &name); err != nil || m[name] == nil || string(m["seq"]) != "4" || m["wait"] == nil || len(m) != 4 {
			t.Errorf("%s", b)
		}
	}
	q := EncodeQR("backstep://join#BCDF-GHJK@relay.example:3478")
	if q == nil || len(q.Rows) != q.Size || len(q.Rows[0]) != q.Size || q.Rows[0][:7] != "1111111" {
		t.Errorf("QR %+v", q)
	}
}
