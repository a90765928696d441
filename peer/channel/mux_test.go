package channel

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

const tick = 16_667

// carry hands a section over and returns the messages that came out, as "channel:text".
func carry(t *testing.T, m *Mux, section []byte, at int64) (got []string) {
	t.Helper()
	if err := m.Check(section); err != nil {
		t.Fatal(err)
	}
	m.Receive(section, at)
	return drain(m)
}

func drain(m *Mux) (got []string) {
	for {
		ch, msg, ok := m.Next()
		if !ok {
			return got
		}
		got = append(got, fmt.Sprintf("%v:%s", ch, msg))
	}
}

func send(t *testing.T, m *Mux, ch ID, msg string) {
	t.Helper()
	if err := m.Send(ch, []byte(msg)); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSendRefuses(t *testing.T) {
	m := New(Config{})
	m.SetPlaying(true)
	for _, c := range []struct {
		ch   ID
		size int
		err  error
	}{
		{RollbackInputs, 1, ErrInputs}, {channels, 1, ErrChannel}, {200, 1, ErrChannel},
		{MatchState, 0, ErrSize}, {MatchState, 2049, ErrSize}, {ChatPresence, 513, ErrSize},
		{Spectator, 1, ErrChannel}, {Lobby, 1, ErrPlaying}, {MatchState, 2048, nil},
	} {
		if err := m.Send(c.ch, make([]byte, c.size)); !errors.Is(err, c.err) {
			t.Errorf("%v, %d bytes: %v, want %v", c.ch, c.size, err, c.err)
		}
	}
	m.SetPlaying(false)
	send(t, m, Lobby, "ready")
	if !m.Busy() || m.Pending(Lobby) != 1 || m.Pending(MatchState) != 1 || m.Pending(RollbackInputs) != 0 {
		t.Error("pending")
	}
}

// Back-pressure: a full reliable channel says so and loses nothing; acknowledgements make room.
func TestFullChannelRefuses(t *testing.T) {
	m := New(Config{})
	for i := range 16 {
		send(t, m, ChatPresence, fmt.Sprint(i))
	}
	if err := m.Send(ChatPresence, []byte("16")); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	b, tag := m.Fill(nil, MaxSection, 1_000_000)
	if len(b) == 0 {
		t.Fatal("nothing sent")
	}
	if err := m.Send(ChatPresence, []byte("16")); !errors.Is(err, ErrFull) {
		t.Error("a message that is on its way made room")
	}
	m.Delivered(tag, 1_100_000)
	if err := m.Send(ChatPresence, []byte("16")); err != nil {
		t.Error(err)
	}
	if s := m.Stats(ChatPresence); s.Accepted != 17 || s.Refused != 2 || s.Delivered != 1 || m.Pending(ChatPresence) != 16 {
		t.Errorf("%+v", s)
	}
}

// CHAN-04: an unreliable channel drops its oldest message and counts, on either side.
func TestUnreliableDropsTheOldest(t *testing.T) {
	from, to := New(Config{Spectator: Source}), New(Config{Spectator: Viewer})
	for i := range 11 {
		send(t, from, Spectator, fmt.Sprint(i))
	}
	if s := from.Stats(Spectator); s.Dropped != 3 || s.Accepted != 11 {
		t.Errorf("%+v", s)
	}
	var all []string
	for n := range 40 {
		now := int64(1_000_000 + n*tick)
		if b, tag := from.Fill(nil, MaxSection, now); len(b) > 0 {
			all = append(all, carry(t, to, b, now)...)
			from.Lost(tag) // unreliable: never again
		}
	}
	equal(t, all, "Spectator:3", "Spectator:4", "Spectator:5", "Spectator:6", "Spectator:7", "Spectator:8", "Spectator:9", "Spectator:10")
	if from.Busy() {
		t.Error("an unreliable message waits for something")
	}

	// A viewer that does not look keeps the newest.
	for i := range 10 {
		b := AppendSection(nil, []Item{{Spectator, uint16(11 + i), 0, 1, []byte{byte('a' + i)}}})
		if err := to.Check(b); err != nil {
			t.Fatal(err)
		}
		to.Receive(b, 60_000_000)
	}
	equal(t, drain(to), "Spectator:c", "Spectator:d", "Spectator:e", "Spectator:f", "Spectator:g", "Spectator:h", "Spectator:i", "Spectator:j")
	// What is older than what came is late.
	equal(t, carry(t, to, AppendSection(nil, []Item{{Spectator, 5, 0, 1, []byte("old")}}), 70_000_000))
	if s := to.Stats(Spectator); s.Dropped != 2 || s.Late != 1 || s.Received != 16 {
		t.Errorf("%+v", s)
	}
}

// CHAN-04: read-only means that a viewer says nothing, and players hear nothing.
func TestSpectatorIsReadOnly(t *testing.T) {
	b := AppendSection(nil, []Item{{Spectator, 0, 0, 1, []byte{1}}})
	for view, open := range map[View][2]bool{Closed: {false, false}, Source: {true, false}, Viewer: {false, true}} {
		m := New(Config{Spectator: view})
		if err := m.Send(Spectator, []byte{1}); (err == nil) != open[0] {
			t.Errorf("view %d sends: %v", view, err)
		}
		if err := m.Check(b); (err == nil) != open[1] || err != nil && !errors.Is(err, ErrChannel) {
			t.Errorf("view %d hears: %v", view, err)
		}
	}
}

// Messages of one channel come in order whatever their sections do, and each comes once.
func TestOrderAndDuplicates(t *testing.T) {
	from, to := New(Config{}), New(Config{})
	var sections [][]byte
	for i := range 4 {
		send(t, from, MatchState, fmt.Sprint(i))
		b, _ := from.Fill(nil, MaxSection, int64(1_000_000+i*50_000))
		sections = append(sections, b)
	}
	equal(t, carry(t, to, sections[2], 1))
	equal(t, carry(t, to, sections[1], 2))
	equal(t, carry(t, to, sections[2], 3))
	equal(t, carry(t, to, sections[0], 4), "MatchState:0", "MatchState:1", "MatchState:2")
	equal(t, carry(t, to, sections[0], 5))
	equal(t, carry(t, to, sections[3], 6), "MatchState:3")
	if s := to.Stats(MatchState); s.Received != 4 || s.Duplicate != 2 {
		t.Errorf("%+v", s)
	}
}

// A long message comes whole, in fragments of any order, and holds nothing else up.
func TestFragments(t *testing.T) {
	from, to := New(Config{}), New(Config{})
	long := string(payload(2048, 3))
	send(t, from, MatchState, long)
	send(t, from, ChatPresence, "hi")
	var sections [][]byte
	for n := range 20 {
		b, _ := from.Fill(nil, MaxSection, int64(1_000_000+n*tick/4))
		if len(b) > DefaultBudget {
			t.Errorf("a section of %d bytes", len(b))
		}
		if len(b) > 0 {
			sections = append(sections, b)
		}
	}
	if len(sections) != 8 {
		t.Fatalf("%d sections", len(sections))
	}
	var got []string
	for i := range sections {
		got = append(got, carry(t, to, sections[(i*5+3)%8], 1)...)
	}
	equal(t, got, "ChatPresence:hi", "MatchState:"+long)
}

// The rates of the table, in messages a second, on ticks that are not quite regular.
func TestRates(t *testing.T) {
	for _, ch := range byPriority {
		m := New(Config{Spectator: Source})
		const seconds = 20
		begun := 0
		for n := range seconds * 60 {
			now := int64(1_000_000 + n*tick + n%3*400)
			for m.Send(ch, []byte{1}) == nil && m.Pending(ch) < 8 {
			}
			b, tag := m.Fill(nil, MaxSection, now)
			if tag == 0 {
				continue
			}
			var room [MaxItems]Item
			items, err := ParseSection(b, &room)
			if err != nil {
				t.Fatal(err)
			}
			begun += len(items)
			m.Delivered(tag, now+1000)
		}
		hz := ch.Row().MaxHz
		if begun > hz*seconds+2 || begun < hz*seconds*97/100 {
			t.Errorf("%v: %d messages in %d seconds, at most %d a second", ch, begun, seconds, hz)
		}
	}
}

// WIRE-22: what has to be sent again goes first, then urgent channels, telemetry last; and nobody is passed over for good.
func TestPriority(t *testing.T) {
	m := New(Config{})
	send(t, m, Telemetry, "t0")
	_, tag := m.Fill(nil, MaxSection, 1_000_000)
	m.Lost(tag)
	for _, ch := range []ID{Telemetry, ChatPresence, Lobby, MatchState} {
		send(t, m, ch, "new")
	}
	b, _ := m.Fill(nil, MaxSection, 1_300_000)
	var room [MaxItems]Item
	items, err := ParseSection(b, &room)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, it := range items {
		order = append(order, fmt.Sprintf("%v:%s", it.Channel, it.Payload))
	}
	equal(t, order, "Telemetry:t0", "MatchState:new", "Lobby:new", "ChatPresence:new", "Telemetry:new")
}

func TestNobodyStarves(t *testing.T) {
	m := New(Config{Budget: MinBudget})
	first := map[ID]int64{}
	long := make([]byte, 2048)
	send(t, m, Telemetry, "me too")
	send(t, m, ChatPresence, "hello")
	for n := range 600 {
		now := int64(1_000_000 + n*tick)
		for m.Send(MatchState, long) == nil {
		}
		b, tag := m.Fill(nil, MaxSection, now)
		var room [MaxItems]Item
		items, err := ParseSection(b, &room)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > MinBudget {
			t.Errorf("section of %d bytes", len(b))
		}
		for _, it := range items {
			if first[it.Channel] == 0 {
				first[it.Channel] = now
			}
		}
		m.Delivered(tag, now+1000)
	}
	for _, ch := range []ID{MatchState, ChatPresence, Telemetry} {
		if at := first[ch]; at == 0 || at > 1_000_000+2*patience+5*tick {
			t.Errorf("%v first went at %d", ch, at)
		}
	}
}

// What is sent again is sent when its packet counts as lost, or when its acknowledgement is overdue by the round trip
// that was measured, with the time doubled each time.
func TestTimers(t *testing.T) {
	m := New(Config{})
	now := int64(1_000_000)
	for range 60 { // 100 ms round trips
		send(t, m, MatchState, "x")
		_, tag := m.Fill(nil, MaxSection, now)
		m.Delivered(tag, now+100_000)
		now += 50_000
	}
	if rtt := m.RTT().Smoothed(); rtt < 95_000 || rtt > 105_000 {
		t.Fatalf("round trip %d", rtt)
	}
	send(t, m, MatchState, "overdue")
	sent := now
	if _, tag := m.Fill(nil, MaxSection, now); tag == 0 {
		t.Fatal("not sent")
	}
	var after []int64
	for end := now + 12_000_000; now < end; now += 1000 {
		if _, tag := m.Fill(nil, MaxSection, now); tag != 0 && now > sent {
			after = append(after, now-sent)
			sent = now
		}
	}
	for i, d := range after {
		want := min(m.timeout()<<min(i, maxBackoff), maxTimeout)
		if d < want || d > want+1000 {
			t.Errorf("copy %d came after %d µs, want %d", i+1, d, want)
		}
	}
	if len(after) < 6 || after[0] > 135_000 {
		t.Errorf("%v", after)
	}
	if s := m.Stats(MatchState); s.Overdue != uint64(len(after)) || s.Resent != s.Overdue || s.Lost != 0 {
		t.Errorf("%+v", s)
	}

	// A report of loss does not wait, and one of a copy that was replaced changes nothing.
	m = New(Config{})
	send(t, m, MatchState, "lost")
	_, one := m.Fill(nil, MaxSection, 1_000_000)
	m.Lost(one)
	m.Lost(one)
	b, two := m.Fill(nil, MaxSection, 1_001_000)
	if two == 0 || !bytes.Contains(b, []byte("lost")) {
		t.Fatal("not sent again")
	}
	m.Lost(one)
	if _, tag := m.Fill(nil, MaxSection, 1_002_000); tag != 0 {
		t.Error("sent a third time")
	}
	m.Delivered(one, 1_003_000) // late
	if m.Busy() {
		t.Error("a late delivery was not taken")
	}
	m.Delivered(two, 1_004_000)
	m.Delivered(two, 1_004_000)
	m.Delivered(99, 1_004_000)
	m.Delivered(0, 1_004_000)
	m.Lost(0)
	if s := m.Stats(MatchState); s.Delivered != 1 || s.Lost != 1 || s.Resent != 1 {
		t.Errorf("%+v", s)
	}
}

// More sections than are remembered: what is forgotten is left to the timers and comes all the same.
func TestForgottenFlights(t *testing.T) {
	from, to := New(Config{}), New(Config{})
	send(t, from, MatchState, "kept")
	_, lost := from.Fill(nil, MaxSection, 1_000_000)
	now := int64(1_000_000)
	for range 2 * flights {
		now += 250_000
		send(t, from, ChatPresence, "x")
		b, tag := from.Fill(nil, MaxSection, now)
		if tag == 0 {
			t.Fatal("nothing sent")
		}
		carry(t, to, b, now)
		from.Delivered(tag, now+1000)
	}
	from.Lost(lost)
	from.Delivered(lost, now)
	if from.Busy() || to.Stats(MatchState).Received != 1 {
		t.Errorf("%+v", to.Stats(MatchState))
	}
}
