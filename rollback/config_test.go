package rollback

import (
	"errors"
	"math"
	"strings"
	"testing"

	"backstep/rollback/quality"

	"pgregory.net/rapid"
)

// RCFG-01 to RCFG-14.
func TestDefaultConfig(t *testing.T) {
	c := DefaultConfig()
	if err := c.Valid(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name      string
		got, want int
	}{
		{"RCFG-01 SimulationHz", c.SimulationHz, 60},
		{"RCFG-02 MaxRollbackFrames", c.MaxRollbackFrames, 8},
		{"RCFG-03 PredictionWindowFrames", c.PredictionWindowFrames, 8},
		{"RCFG-04 SnapshotBudgetBytesPerFighter", c.SnapshotBudgetBytesPerFighter, 8192},
		{"RCFG-05 SnapshotHistoryFrames", c.SnapshotHistoryFrames, 90},
		{"RCFG-06 ResendInputFrames", c.ResendInputFrames, 8},
		{"RCFG-07 FecGroupSize", c.FecGroupSize, 4},
		{"RCFG-08 AckWindowBits", c.AckWindowBits, 32},
		{"RCFG-09 HybridRttThresholdMs", c.HybridRttThresholdMs, 100},
		{"RCFG-10 DelayFallbackRttThresholdMs", c.DelayFallbackRttThresholdMs, 150},
		{"RCFG-11 PoorPacketLossPercent", c.PoorPacketLossPercent, 8},
		{"RCFG-12 SustainedRollbackPressureFrames", c.SustainedRollbackPressureFrames, 1800},
	} {
		if f.got != f.want {
			t.Errorf("%s is %d, want %d", f.name, f.got, f.want)
		}
	}
	if !c.RequireEncryptedTransport || !c.SuppressCosmeticsDuringResim {
		t.Error("RCFG-13, RCFG-14: both default to true")
	}
	if c.Limits() != quality.DefaultLimits() {
		t.Errorf("limits %+v", c.Limits())
	}
	if (c.Clamped()) != c {
		t.Error("clamping changed the defaults")
	}
	if err := (Config{}).Valid(); !errors.Is(err, ErrConfig) {
		t.Errorf("the zero value is valid: %v", err)
	}
}

// RCFG-15, RCFG-04: every number has a clamp, and Valid names the field that is out of range.
func TestConfigBounds(t *testing.T) {
	c := DefaultConfig()
	for i, b := range c.bounds() {
		for _, v := range []int{b.low - 1, b.top + 1, math.MinInt, math.MaxInt} {
			x := DefaultConfig()
			*x.bounds()[i].v = v
			if err := x.Valid(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), b.name) && !strings.Contains(err.Error(), "MaxRollbackFrames") && !strings.Contains(err.Error(), "DelayFallback") {
				t.Errorf("%s = %d: %v", b.name, v, err)
			}
			x = x.Clamped()
			if err := x.Valid(); err != nil {
				t.Errorf("%s = %d clamped to %d: %v", b.name, v, *x.bounds()[i].v, err)
			}
			if _, err := NewSession(smallGame{}, x, new(small)); err != nil {
				t.Errorf("%s = %d: %v", b.name, v, err)
			}
		}
	}
	if n := DefaultConfig(); n.Clamped().SnapshotBudgetBytesPerFighter != 8192 {
		t.Error("the budget's default moved")
	}
	x := DefaultConfig()
	x.SnapshotBudgetBytesPerFighter = 100
	if x.Clamped().SnapshotBudgetBytesPerFighter != 512 {
		t.Error("RCFG-04: the budget is not clamped to 512")
	}
	x.DatagramOverhead = -3
	if x.Valid() == nil || x.Clamped().DatagramOverhead != 0 {
		t.Error("DatagramOverhead is not bounded")
	}
	if _, err := NewDriver(smallGame{}, Config{}, new(small), 0); !errors.Is(err, ErrConfig) {
		t.Errorf("a driver without a configuration: %v", err)
	}
}

// Clamped always gives a valid configuration.
func TestClampedIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Config
		for _, b := range c.bounds() {
			*b.v = rapid.IntRange(-1000, 100_000).Draw(t, b.name)
		}
		c.DatagramOverhead = rapid.Int().Draw(t, "DatagramOverhead")
		if err := c.Clamped().Valid(); err != nil {
			t.Fatal(err)
		}
	})
}

// V-12, V-03.
func TestSnapshotBudget(t *testing.T) {
	c := DefaultConfig()
	for _, x := range []struct {
		bytes, fighters int
		want            bool
	}{{16385, 2, false}, {16384, 2, true}, {24576, 3, true}, {24577, 3, false}, {0, 1, true}, {1, 0, false}, {-1, 2, false}} {
		if got := c.SnapshotWithinBudget(x.bytes, x.fighters); got != x.want {
			t.Errorf("%d bytes, %d fighters: %v", x.bytes, x.fighters, got)
		}
	}
}

// SESS-25, V-54 in its terms: 300 ms one way at 60 Hz is 18 frames, with a delay of 3 the window must be 15.
func TestWindowFor(t *testing.T) {
	c := DefaultConfig()
	for _, x := range []struct {
		micros int64
		delay  int
		want   int
	}{{300_000, 3, 15}, {40_000, 0, 3}, {40_000, 3, 0}, {40_000, 9, 0}, {0, 0, 0}, {16_667, 0, 2}, {16_666, 0, 1}} {
		if got := c.WindowFor(x.micros, x.delay); got != x.want {
			t.Errorf("%d µs, delay %d: %d, want %d", x.micros, x.delay, got, x.want)
		}
	}
}
