package rollback

import (
	"errors"
	"fmt"

	"backstep/fec"
	"backstep/rollback/accord"
	"backstep/rollback/quality"
)

// Limits of Config fields that other code needs by name.
const (
	MinPlayers = 2
	MaxPlayers = accord.MaxPlayers

	MaxWindow     = accord.MaxWindow // frames that may be predicted
	MaxInputDelay = quality.MaxDelay // frames between sampling an input and the frame that uses it
	MaxHistory    = 160              // frames of history; with all that can lie ahead of the present it fits the input ring

	FreeFrames = 30 // frames by which free frames may stretch the window
	HardWindow = 64 // frames predicted in all, free ones included; a packet carries as many
	MinHistory = HardWindow + 2

	HashInterval = 8 // frames divisible by it are hashed once confirmed
	HashRing     = 1024

	// PressureSpan is how many past ticks count as held in a pressure sample.
	PressureSpan = 60
)

// Config is everything that can be set about a session. DefaultConfig is a valid one.
type Config struct {
	SimulationHz                    int  // steps a second, 10 to 240
	MaxRollbackFrames               int  // a deeper correction freezes; from PredictionWindowFrames to HardWindow
	PredictionWindowFrames          int  // frames that may be simulated beyond the last confirmed one, 1 to MaxWindow
	SnapshotBudgetBytesPerFighter   int  // encoded bytes, 512 to 8192
	SnapshotHistoryFrames           int  // frames kept before the present one, MinHistory to MaxHistory
	ResendInputFrames               int  // frames before the newest that a packet in full form repeats, 0 to 63
	FecGroupSize                    int  // packets in a parity group, 2 to fec.MaxGroup
	AckWindowBits                   int  // 32: the wire has no other width
	HybridRttThresholdMs            int  // above it a link is Borderline, 1 to 1000 ms
	DelayFallbackRttThresholdMs     int  // above it a link is Poor, from HybridRttThresholdMs to 2000 ms
	PoorPacketLossPercent           int  // from it on a link is Poor, 1 to 100
	SustainedRollbackPressureFrames int  // ticks under pressure before delay mode is offered, 1 to 54000
	RequireEncryptedTransport       bool // the carrier must encrypt; packets are sent in compact form
	SuppressCosmeticsDuringResim    bool // frames stepped again are silent

	Players    int // MinPlayers to MaxPlayers
	Local      int // slot of the player on this side, 0 to Players-1
	InputDelay int // frames, 0 to MaxInputDelay

	// GuessFrames is how many frames beyond the newest known one a player's word is guessed to stay as it is; what comes
	// after that is guessed neutral, 0. 0 repeats it without end, which recorded play bears out best. 0 to HardWindow.
	GuessFrames int

	DeepestWindowFrames int // up to which a Driver asks for a deeper window if there are stalls and the steps afford it; 0 never

	Mode  quality.Mode // in Delay no frame is predicted; Rollback and Hybrid differ in their delay alone
	Delay DelayPolicy  // whether a Driver changes InputDelay by itself

	FEC              fec.Mode // parity on the packet stream; Auto sends none
	SecondBudget     int      // bytes a second to each player for second datagrams, overhead included; 0 sends none
	DatagramOverhead int      // bytes below a packet (IP, UDP, DTLS, relay) that SecondBudget counts too, 0 to 200
	NoTimeSync       bool     // run at the nominal rate, for a caller that paces by itself
}

// DelayPolicy says in which modes a Driver keeps the input delay at what quality.AutoDelay wants on the links as they
// are measured. It raises it at once and lowers it late.
type DelayPolicy uint8

const (
	DelayFixed  DelayPolicy = iota // in none
	DelayByMode                    // in hybrid and in delay mode
	DelayAuto                      // in all
)

// DefaultConfig is rollback between two players at 60 Hz over a channel that encrypts.
func DefaultConfig() Config {
	return Config{
		SimulationHz:                    60,
		MaxRollbackFrames:               8,
		PredictionWindowFrames:          8,
		SnapshotBudgetBytesPerFighter:   8192,
		SnapshotHistoryFrames:           90,
		ResendInputFrames:               8,
		FecGroupSize:                    4,
		AckWindowBits:                   32,
		HybridRttThresholdMs:            100,
		DelayFallbackRttThresholdMs:     150,
		PoorPacketLossPercent:           8,
		SustainedRollbackPressureFrames: 1800,
		RequireEncryptedTransport:       true,
		SuppressCosmeticsDuringResim:    true,
		Players:                         2,
		Mode:                            quality.Rollback,
		SecondBudget:                    6000,
		DatagramOverhead:                57,
	}
}

// bounds lists the legal range of every numeric field. Later fields may depend on earlier ones.
func (c *Config) bounds() [18]bound {
	return [18]bound{
		{"SimulationHz", &c.SimulationHz, 10, 240},
		{"PredictionWindowFrames", &c.PredictionWindowFrames, 1, MaxWindow},
		{"MaxRollbackFrames", &c.MaxRollbackFrames, min(max(c.PredictionWindowFrames, 1), MaxWindow), HardWindow},
		{"SnapshotBudgetBytesPerFighter", &c.SnapshotBudgetBytesPerFighter, 512, 8192},
		{"SnapshotHistoryFrames", &c.SnapshotHistoryFrames, MinHistory, MaxHistory},
		{"ResendInputFrames", &c.ResendInputFrames, 0, 63},
		{"FecGroupSize", &c.FecGroupSize, 2, fec.MaxGroup},
		{"AckWindowBits", &c.AckWindowBits, 32, 32},
		{"HybridRttThresholdMs", &c.HybridRttThresholdMs, 1, 1000},
		{"DelayFallbackRttThresholdMs", &c.DelayFallbackRttThresholdMs, min(max(c.HybridRttThresholdMs, 1), 1000), 2000},
		{"PoorPacketLossPercent", &c.PoorPacketLossPercent, 1, 100},
		{"SustainedRollbackPressureFrames", &c.SustainedRollbackPressureFrames, 1, 54000},
		{"Players", &c.Players, MinPlayers, MaxPlayers},
		{"Local", &c.Local, 0, min(max(c.Players, MinPlayers), MaxPlayers) - 1},
		{"InputDelay", &c.InputDelay, 0, MaxInputDelay},
		{"GuessFrames", &c.GuessFrames, 0, HardWindow},
		{"DeepestWindowFrames", &c.DeepestWindowFrames, 0, MaxWindow},
		{"SecondBudget", &c.SecondBudget, 0, 1 << 20},
	}
}

type bound struct {
	name     string
	v        *int
	low, top int
}

// ErrConfig is what every error of Valid wraps.
var ErrConfig = errors.New("rollback: invalid configuration")

// Valid reports the first field that is out of range, or nil.
func (c Config) Valid() error {
	for _, b := range c.bounds() {
		if *b.v < b.low || *b.v > b.top {
			return fmt.Errorf("%w: %s is %d, must be %d to %d", ErrConfig, b.name, *b.v, b.low, b.top)
		}
	}
	if c.Mode > quality.Rollback {
		return fmt.Errorf("%w: Mode is %d, must be %d to %d", ErrConfig, c.Mode, quality.Delay, quality.Rollback)
	}
	if c.DatagramOverhead < 0 || c.DatagramOverhead > 200 {
		return fmt.Errorf("%w: DatagramOverhead is %d, must be 0 to 200", ErrConfig, c.DatagramOverhead)
	}
	return nil
}

// Clamped is c with every number moved to the nearest legal value.
func (c Config) Clamped() Config {
	for i := range c.bounds() {
		// Taken anew each time: a field's range may depend on one clamped before.
		b := c.bounds()[i]
		*b.v = min(max(*b.v, b.low), b.top)
	}
	c.Mode = min(c.Mode, quality.Rollback)
	c.DatagramOverhead = min(max(c.DatagramOverhead, 0), 200)
	return c
}

// Limits are the edges of the grades by which a link is judged.
func (c Config) Limits() quality.Limits {
	return quality.Limits{
		HybridRTT: int64(c.HybridRttThresholdMs) * 1000,
		DelayRTT:  int64(c.DelayFallbackRttThresholdMs) * 1000,
		PoorLoss:  int64(c.PoorPacketLossPercent) * quality.Percent,
	}
}

// SnapshotWithinBudget reports whether an encoded snapshot of bytes fits the budget of that many fighters.
// The share of a fighter is rounded up.
func (c Config) SnapshotWithinBudget(bytes, fighters int) bool {
	return fighters > 0 && bytes >= 0 && (bytes+fighters-1)/fighters <= c.SnapshotBudgetBytesPerFighter
}

// WindowFor is how many frames have to be predicted over a link: its one-way latency in frames, rounded up, less the
// input delay (SESS-25), at least 0.
func (c Config) WindowFor(oneWayMicros int64, inputDelay int) int {
	hz := int64(c.SimulationHz)
	frames := (oneWayMicros*hz + 999_999) / 1_000_000
	return int(max(frames-int64(inputDelay), 0))
}
