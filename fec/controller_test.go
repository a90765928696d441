package fec

import "testing"

func TestModeNames(t *testing.T) {
	for m, name := range map[Mode]string{Auto: "auto", Off: "off", XOR: "xor", RS: "rs"} {
		if m.String() != name {
			t.Errorf("%d is %q", m, m)
		}
		if got, err := ParseMode(name); got != m || err != nil {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
	for _, bad := range []string{"", "XOR", "on", "invalid", "auto "} {
		if _, err := ParseMode(bad); err != ErrMode {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if Mode(9).String() != "invalid" {
		t.Error("name of no mode")
	}
}

func TestControllerModes(t *testing.T) {
	signals := Signals{LossFast: 50_000, LossSlow: 80_000, BurstMilli: 1100, Queue: 2_000, RTTMin: 78_000, Rate: 60, PacketSize: 97}
	for _, c := range []struct {
		mode   Mode
		budget int
		want   Plan
	}{
		{Auto, 0, Plan{BulkLoss: 80_000}},
		{Off, 0, Plan{BulkLoss: 80_000}},
		{XOR, 0, Plan{Parity: true, Params: Params{4, 1}, BulkLoss: 80_000}},
		{RS, 0, Plan{Parity: true, Params: Params{4, 2}, BulkLoss: 80_000}},
		{XOR, 1500, Plan{Parity: true, Params: Params{4, 1}, BulkLoss: 80_000}},
		{XOR, 1499, Plan{Parity: true, Params: Params{5, 1}, BulkLoss: 80_000}},
		{RS, 1000, Plan{Parity: true, Params: Params{12, 2}, BulkLoss: 80_000}},
		{RS, 999, Plan{BulkLoss: 80_000}},
		{Mode(9), 0, Plan{BulkLoss: 80_000}},
	} {
		signals.Budget = c.budget
		ctl := Controller{Mode: c.mode}
		if got := ctl.Decide(signals); got != c.want {
			t.Errorf("%v with %d: %+v, want %+v", c.mode, c.budget, got, c.want)
		}
	}
}

// Loss and delay that rise together are congestion; either alone is not.
func TestControllerCongestion(t *testing.T) {
	for _, c := range []struct {
		name                string
		fast, slow          uint32
		queue, least        int64
		fresh, alreadyThere bool
	}{
		{"both rise", 60_000, 20_000, 60_000, 80_000, true, true},
		{"only delay", 20_000, 20_000, 60_000, 80_000, false, true},
		{"only loss", 60_000, 20_000, 2_000, 80_000, false, false},
		{"a step too small", 15_000, 6_000, 60_000, 80_000, false, true},
		{"a queue too short", 60_000, 20_000, 19_000, 80_000, false, true},
		{"a queue going down", 60_000, 20_000, 10_000, 80_000, false, false},
		{"nothing known", 60_000, 20_000, 0, 0, false, false},
		{"total loss", 1_000_000, 600_000, 320_000, 80_000, true, true},
	} {
		s := Signals{LossFast: c.fast, LossSlow: c.slow, Queue: c.queue, RTTMin: c.least}
		for was, want := range map[bool]bool{false: c.fresh, true: c.alreadyThere} {
			ctl := Controller{Mode: XOR, congested: was}
			p := ctl.Decide(s)
			bulk := max(c.fast, c.slow)
			if want {
				bulk /= 2
			}
			if p.Congested != want || p.BulkLoss != bulk || !p.Parity {
				t.Errorf("%s, was %v: %+v", c.name, was, p)
			}
		}
	}
}
