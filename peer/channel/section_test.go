package channel

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func payload(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)*31 + seed
	}
	return b
}

// Sections byte by byte, as docs/channels.md says.
func TestSectionBytes(t *testing.T) {
	full := hex.EncodeToString(payload(256, 1))
	for _, c := range []struct {
		name  string
		items []Item
		hex   string
	}{
		{"one message", []Item{{ChatPresence, 0x1234, 0, 1, []byte("gg")}}, "02" + "3412" + "6767"},
		{"two messages", []Item{{MatchState, 1, 0, 1, []byte{9}}, {Telemetry, 2, 0, 1, []byte{8, 7}}}, "11" + "0100" + "00" + "09" + "04" + "0200" + "0807"},
		{"first of three fragments", []Item{{MatchState, 7, 0, 3, payload(256, 1)}}, "09" + "0700" + "20" + full},
		{"fragment before a message", []Item{{MatchState, 7, 1, 2, []byte{5}}, {Lobby, 65535, 0, 1, []byte{6}}}, "19" + "0700" + "11" + "00" + "05" + "05" + "ffff" + "06"},
		{"a whole 256 and one more", []Item{{Spectator, 0, 0, 1, payload(256, 1)}, {Spectator, 1, 0, 1, []byte{1}}}, "13" + "0000" + "ff" + full + "03" + "0100" + "01"},
	} {
		b := AppendSection(nil, c.items)
		if hex.EncodeToString(b) != c.hex {
			t.Errorf("%s: %x, want %s", c.name, b, c.hex)
		}
		var room [MaxItems]Item
		items, err := ParseSection(b, &room)
		if err != nil || !slices.EqualFunc(items, c.items, equalItems) {
			t.Errorf("%s: %+v %v", c.name, items, err)
		}
	}
}

func equalItems(a, b Item) bool {
	return a.Channel == b.Channel && a.Number == b.Number && a.Index == b.Index && a.Count == b.Count && bytes.Equal(a.Payload, b.Payload)
}

// Attack 21, the part of the sections: whatever is claimed is refused before anything is kept.
func TestHostileSections(t *testing.T) {
	full := payload(256, 0)
	many := func(n int) []Item {
		var items []Item
		for i := range n {
			items = append(items, Item{ChatPresence, uint16(i), 0, 1, []byte{1}})
		}
		return items
	}
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"empty", nil},
		{"head alone", []byte{1}},
		{"number cut", []byte{1, 0}},
		{"no payload", []byte{1, 0, 0}},
		{"inputs", []byte{0, 0, 0, 1}},
		{"channel 6", []byte{6, 0, 0, 1}},
		{"channel 7", []byte{7, 0, 0, 1}},
		{"unknown head bit 5", []byte{0x21, 0, 0, 1}},
		{"unknown head bit 6", []byte{0x41, 0, 0, 1}},
		{"unknown head bit 7", []byte{0x81, 0, 0, 1}},
		{"one fragment", []byte{0x09, 0, 0, 0x00, 1}},
		{"fragment index beyond the count", []byte{0x09, 0, 0, 0x12, 1}},
		{"fragment byte missing", []byte{0x09, 0, 0}},
		{"4 KB of match state", append([]byte{0x09, 0, 0, 0xF0}, full...)},
		{"nine fragments of match state", append([]byte{0x09, 0, 0, 0x80}, full...)},
		{"three fragments of chat", append([]byte{0x0A, 0, 0, 0x20}, full...)},
		{"fragments of an unreliable channel", append([]byte{0x0B, 0, 0, 0x10}, full...)},
		{"a short fragment that is not the last", append([]byte{0x09, 0, 0, 0x10}, full[:255]...)},
		{"a long last fragment", append([]byte{0x09, 0, 0, 0x11}, payload(257, 0)...)},
		{"a long whole message", append([]byte{0x01, 0, 0}, payload(257, 0)...)},
		{"length missing", []byte{0x11, 0, 0}},
		{"length beyond the end", []byte{0x11, 0, 0, 200, 1}},
		{"nothing behind an item that promises more", []byte{0x11, 0, 0, 0, 1}},
		{"more than a section", append([]byte{0x01, 0, 0}, payload(MaxSection, 0)...)},
		{"17 items", AppendSection(nil, many(17))},
		{"the same item twice", AppendSection(nil, []Item{{1, 3, 0, 1, []byte{1}}, {1, 3, 0, 1, []byte{1}}})},
		{"one message with two lengths", AppendSection(nil, []Item{{1, 3, 1, 2, []byte{1}}, {1, 3, 2, 3, []byte{1}}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(Config{Spectator: Viewer})
			before := m.in
			if err := m.Check(c.b); !errors.Is(err, ErrSection) {
				t.Fatal(err)
			}
			m.Receive(c.b, 1)
			for ch := range m.in {
				if m.in[ch].stats != before[ch].stats || m.in[ch].next != 0 {
					t.Error("something was kept")
				}
			}
			if ch, msg, ok := m.Next(); ok {
				t.Errorf("handed out %v %x", ch, msg)
			}
			if n := testing.AllocsPerRun(10, func() { _ = m.Check(c.b) }); n != 0 {
				t.Errorf("refusing allocates %v times", n)
			}
		})
	}
	var room [MaxItems]Item
	if _, err := ParseSection(AppendSection(nil, many(16)), &room); err != nil {
		t.Errorf("16 items: %v", err)
	}
}

func drawItem(t *rapid.T) Item {
	ch := rapid.SampledFrom(byPriority[:]).Draw(t, "channel")
	row := ch.Row()
	size := rapid.IntRange(1, row.MaxMessage).Draw(t, "message")
	count := (size + Fragment - 1) / Fragment
	index := rapid.IntRange(0, count-1).Draw(t, "index")
	n := min(Fragment, size-index*Fragment)
	return Item{ch, rapid.Uint16().Draw(t, "number"), uint8(index), uint8(count), payload(n, byte(size))}
}

func TestSectionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []Item
		for range rapid.IntRange(1, MaxItems).Draw(t, "items") {
			it := drawItem(t)
			if contradicts(items, &it) || len(AppendSection(nil, append(items, it))) > MaxSection {
				continue
			}
			items = append(items, it)
		}
		b := AppendSection([]byte("x"), items)
		var room [MaxItems]Item
		got, err := ParseSection(b[1:], &room)
		if err != nil || !slices.EqualFunc(got, items, equalItems) {
			t.Fatalf("%v\n%+v\n%+v", err, got, items)
		}
	})
}

// FuzzSection: what is accepted is what a sender makes, bit by bit.
func FuzzSection(f *testing.F) {
	for _, items := range [][]Item{
		{{ChatPresence, 3, 0, 1, []byte("gg")}},
		{{MatchState, 65535, 0, 1, []byte{1}}, {Lobby, 9, 0, 1, []byte{2, 3}}},
		{{MatchState, 1, 0, 2, payload(256, 0)}, {MatchState, 1, 1, 2, []byte{1}}},
		{{Telemetry, 1, 7, 8, payload(256, 0)}, {Spectator, 1, 0, 1, payload(256, 1)}},
	} {
		f.Add(AppendSection(nil, items))
	}
	f.Add([]byte{0x11, 0, 0, 0, 1})
	f.Add([]byte{0x09, 0, 0, 0xF0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var room [MaxItems]Item
		items, err := ParseSection(b, &room)
		if err != nil {
			return
		}
		if again := AppendSection(nil, items); !bytes.Equal(again, b) {
			t.Fatalf("% x became % x", b, again)
		}
	})
}

// FuzzMux: what is taken comes out within the bounds of its channel, whatever came before.
func FuzzMux(f *testing.F) {
	f.Add(AppendSection(nil, []Item{{MatchState, 0, 0, 2, payload(256, 0)}}), AppendSection(nil, []Item{{MatchState, 0, 1, 2, []byte{1}}, {MatchState, 1, 0, 1, []byte{1}}}))
	f.Add(AppendSection(nil, []Item{{Spectator, 9, 0, 1, []byte{1}}}), AppendSection(nil, []Item{{Spectator, 8, 0, 1, []byte{1}}, {ChatPresence, 0, 0, 1, []byte{1}}}))
	m := New(Config{Spectator: Viewer})
	fresh := *m
	f.Fuzz(func(t *testing.T, one, two []byte) {
		*m = fresh
		for ch := range m.in {
			clear(m.in[ch].slots)
		}
		taken := 0
		for _, b := range [][]byte{one, two} {
			if m.Check(b) == nil {
				m.Receive(b, 1)
				taken++
			}
		}
		for n := 0; ; n++ {
			ch, msg, ok := m.Next()
			if !ok {
				return
			}
			if len(msg) == 0 || len(msg) > ch.Row().MaxMessage {
				t.Fatalf("%v hands out %d bytes", ch, len(msg))
			}
			if n >= taken*MaxItems {
				t.Fatal("more messages than items")
			}
		}
	})
}
