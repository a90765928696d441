package peer

import (
	"encoding/json"
	"strings"
	"testing"

	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/rollback/desync"
	"backstep/sim"
)

// plantedEvidence is a desync in which the guest's fighter has less health than
// it should.
func plantedEvidence(t *testing.T) *desync.Evidence {
	t.Helper()
	w := new(match.World)
	c := sim.DefaultConfig()
	if err := w.Reset(c); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		w.Step([]sim.Input{{}, {}}, sim.TelemetryOnly)
	}
	before, first := w.AppendState(nil), w.Frame()
	w.Step([]sim.Input{{Now: sim.RightBit}, {}}, sim.TelemetryOnly)
	host := w.AppendState(nil)
	guest := new(match.World)
	if err := guest.ParseState(before); err != nil {
		t.Fatal(err)
	}
	guest.Step([]sim.Input{{Now: sim.LeftBit}, {}}, sim.TelemetryOnly)
	return &desync.Evidence{Host: true, Frame: first + 1, Agreed: first, Builds: [2]string{"a", "<img onerror=x>"}, Hashes: [2]uint64{w.Hash(), guest.Hash()},
		Game: gameOf(c), Before: before, States: [2][]byte{host, guest.AppendState(nil)}, First: first, Words: [][]uint32{{0, uint32(sim.RightBit)}, {0, 0}}}
}

func gameOf(c sim.Config) []byte {
	b := sim.AppendConfig(nil, c)
	h := sim.DataHash()
	for i := range 8 {
		b = append(b, byte(h>>(8*i)))
	}
	return b
}

// A desync is listed, opened and looked at on the page.
func TestDesyncOnThePage(t *testing.T) {
	c := testConfig(t)
	e := plantedEvidence(t)
	if _, err := c.keepEvidence(e); err != nil {
		t.Fatal(err)
	}
	p := startPlayer(t, c, StartTitle)
	p.until("title", nil)
	p.command(`{"cmd":"replays"}`)
	var list page.Replays
	p.until("replays", func(s screen) bool { s.into(t, &list); return len(list.Desyncs) == 1 })
	if list.Desyncs[0].Code != e.Code() {
		t.Fatalf("code %q, want %q", list.Desyncs[0].Code, e.Code())
	}
	p.command(`{"cmd":"open","id":%q}`, list.Desyncs[0].ID)
	var d page.Desync
	p.until("desync", func(s screen) bool { s.into(t, &d); return true })
	if d.Verdict != "host" || strings.Join(d.Exhibits, " ") != "before here host guest" || d.Shown != "guest" || len(d.Differences) == 0 || len(d.Ranges) == 0 {
		b, _ := json.Marshal(d)
		t.Fatalf("%s", b)
	}
	p.command(`{"cmd":"theatre","exhibit":"before","boxes":true}`)
	p.until("desync", func(s screen) bool { s.into(t, &d); return d.Shown == "before" && d.Boxes })
	p.command(`{"cmd":"theatre","exhibit":"../../etc/passwd"}`)
	p.command(`{"cmd":"replays"}`)
	p.until("replays", nil)
	p.command(`{"cmd":"open","id":"../settings"}`)
	for b := p.read(); b[0] != 7; b = p.read() {
	}
	p.command(`{"cmd":"delete","id":%q}`, list.Desyncs[0].ID)
	p.until("replays", func(s screen) bool { s.into(t, &list); return len(list.Desyncs) == 0 })
	p.quit()
}

func TestEvidenceThatCannotBeShown(t *testing.T) {
	e := plantedEvidence(t)
	e.Game[len(e.Game)-1]++
	if _, err := openEvidence(desync.AppendEvidence(nil, e)); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("other data: %v", err)
	}
	e = plantedEvidence(t)
	e.Before, e.States = nil, [2][]byte{{1, 2}, nil}
	if _, err := openEvidence(desync.AppendEvidence(nil, e)); err == nil || !strings.Contains(err.Error(), "no state") {
		t.Errorf("no states: %v", err)
	}
	for _, b := range [][]byte{[]byte("V2DE"), nil, []byte("V2DE\xff\xff\xff\xff")} {
		if _, err := openEvidence(b); err == nil {
			t.Errorf("%q opened", b)
		}
	}
}
