package channel

import (
	"errors"
	"testing"

	"backstep/rollback/wire"
)

// CHAN-01, CHAN-02, CHAN-03, CHAN-04, CHAN-05, CHAN-06, MST-16: the table of the channels.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		id       ID
		name     string
		profile  string
		reliable bool
		hz       int
		readOnly bool
		preMatch bool
	}{
		{RollbackInputs, "RollbackInputs", "V2.Rollback.UDP.DTLS", false, 60, false, false},
		{MatchState, "MatchState", "UE.Iris.MatchState", true, 30, false, false},
		{ChatPresence, "ChatPresence", "UE.Iris.ChatPresence", true, 10, false, false},
		{Spectator, "Spectator", "UE.Iris.Spectator", false, 20, true, false},
		{Telemetry, "Telemetry", "UE.Iris.RollbackTelemetry", true, 5, false, false},
		{Lobby, "Lobby", "UE.Iris.Lobby", true, 15, false, true},
	} {
		row := c.id.Row()
		if row.Name != c.name || row.Profile != c.profile || row.Reliable != c.reliable || row.MaxHz != c.hz ||
			row.ReadOnly != c.readOnly || row.PreMatch != c.preMatch || row.Deterministic != (c.id == RollbackInputs) {
			t.Errorf("%v: %+v", c.id, row)
		}
		if c.id.String() != c.name {
			t.Errorf("%d is %q", c.id, c.id)
		}
	}
	if len(Table()) != 6 || channels.Row() != (Row{}) || channels.String() != "unknown" {
		t.Error("there are channels beyond the table")
	}
}

// What the code takes for granted about the table.
func TestTableFitsTheCode(t *testing.T) {
	seen := map[ID]bool{}
	before := uint8(0)
	for _, id := range byPriority {
		row := id.Row()
		if seen[id] || !id.guest() || row.Priority <= before {
			t.Errorf("%v stands out of order", id)
		}
		seen[id], before = true, row.Priority
		if row.Window == 0 || 1<<16%row.Window != 0 {
			t.Errorf("%v: the window must divide 65536, so that numbers wrap where slots do", id)
		}
		if row.MaxMessage > maxFragments*Fragment || !row.Reliable && row.MaxMessage > Fragment {
			t.Errorf("%v: messages of %d bytes", id, row.MaxMessage)
		}
	}
	if len(seen) != int(channels)-1 {
		t.Errorf("%d channels have a priority", len(seen))
	}
	if MinBudget > DefaultBudget || DefaultBudget > MaxSection {
		t.Error("budgets out of order")
	}
}

// CHAN-07: inputs do not use the generic layer. Neither can they be sent through it nor does it take them.
func TestInputsAreNoGuests(t *testing.T) {
	m := New(Config{})
	if err := m.Send(RollbackInputs, []byte{1}); !errors.Is(err, ErrInputs) {
		t.Error(err)
	}
	b := AppendSection(nil, []Item{{Channel: RollbackInputs, Count: 1, Payload: []byte{1}}})
	if err := m.Check(b); !errors.Is(err, ErrSection) {
		t.Error(err)
	}
}

// CHAN-08: no other channel uses the rollback socket. Guests have no socket of their own, and a Mux has none to send on:
// whatever is pending, it only fills room in packets that somebody else sends.
func TestOnlyInputsHaveASocket(t *testing.T) {
	for id, row := range Table() {
		if (row.Socket == wire.Channel) != (ID(id) == RollbackInputs) || ID(id).guest() && row.Socket != "" {
			t.Errorf("%v has the socket %q", ID(id), row.Socket)
		}
	}
}

// CHAN-09: the packets of match state identify it by its number.
func TestSectionsNameTheirChannel(t *testing.T) {
	for _, ch := range byPriority {
		m := New(Config{Spectator: Source})
		if err := m.Send(ch, []byte("x")); err != nil {
			t.Fatal(err)
		}
		b, _ := m.Fill(nil, MaxSection, 1_000_000)
		if want := []byte{byte(ch), 0, 0, 'x'}; string(b) != string(want) {
			t.Errorf("%v: % x", ch, b)
		}
	}
	if MatchState != 1 {
		t.Error("the number of MatchState changed")
	}
}
