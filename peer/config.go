package peer

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/natpunch/rendezvous"
	"backstep/peer/doctor"
	"backstep/peer/impair"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/quality"
	"backstep/sim"
)

// Config is one match as the command line describes it.
type Config struct {
	Host bool
	Code rendezvous.Code // of a joiner

	Relays       []string // in order; a host without any starts one itself
	DefaultRelay string   // what the opponent is taken to have configured too
	RelayToken   string
	SecretLen    int   // symbols of the code's secret half: 4, 6 or 8; 4 if zero
	Embed        Embed // starts a relay in this process; nil where there is none

	Input      string // see package source
	Frames     int32
	ReportFile string
	RecordFile string
	Paths      natpunch.Allowed
	NoPortMap  bool // the router is not asked for an outside port
	Impair     impair.Spec
	Delay      int
	FEC        fec.Mode
	Window     int
	Deepest    int // frames to which the window may grow; 0 never
	Seed       *uint64

	Ruleset  sim.Ruleset
	Format   sim.Format
	Team     [3]sim.FighterID
	Rounds   uint8
	Ranked   bool
	Explicit setup.Setting // rules this side gave by itself

	AutoDelay  bool         // Delay is a start only: it follows the forecast, and in hybrid and delay mode the link
	FixedDelay bool         // Delay stays as it is in every mode
	Mode       quality.Mode // what this side asks for; the more careful one of the two is played
	AutoMode   bool         // Mode follows the forecast
	Rematch    bool         // headless: play again as long as the opponent wants to

	Page    *PageConfig // nil without a page
	DataDir string      // the player's files; archive.DefaultDir if empty

	Name, Region  string
	Timeout, Wait time.Duration
	ShowAddresses bool

	Build  string
	Stdout io.Writer // contract lines only
	HUD    io.Writer // the one-line HUD, nil for none
	Log    zerolog.Logger

	// Watch is called after every tick on the match's goroutine, for measuring.
	Watch func(l *match.Loop)

	wrap    func(net.PacketConn) net.PacketConn // the UDP socket, in tests
	onCode  func(code string)
	onGuess func(n int)
	onRelay func(port uint16)
	spar    func(ctx context.Context, code <-chan string, bot string) error // instead of a second process
	probes  doctor.Probes                                                   // of the doctor on the page, in tests
}

// PageConfig is about the page alone.
type PageConfig struct {
	Addr    string // HOST:PORT on this machine
	Browser string // command; empty for the system's, page.NoBrowser for none
	Exe     string // this program, for the opponent in a second process
}

// Embed starts a relay on this machine, for matches without another one. An
// invalid address means all of them. It is a parameter because peer and relay
// do not know each other.
type Embed func(ctx context.Context, listen string) (Embedded, error)

// Embedded is a relay running in this process.
type Embedded struct {
	Port  uint16 // UDP and TCP
	Close func()
}

// check refuses what no match can be played with. It is called before
// anything is opened.
func (c *Config) check() error {
	usage := func(format string, args ...any) error {
		return fail(exitUsage, 0, nil, format, args...)
	}
	switch {
	case c.Frames < 0:
		return usage("--frames is %d, must be 0 or more", c.Frames)
	case c.Window < 1 || c.Window > rollback.MaxWindow:
		return usage("--window is %d, must be 1 to %d", c.Window, rollback.MaxWindow)
	case c.Delay < 0 || c.Delay > rollback.MaxInputDelay:
		return usage("--delay is %d, must be 0 to %d frames", c.Delay, rollback.MaxInputDelay)
	case c.Timeout < time.Second || c.Timeout > time.Hour:
		return usage("--timeout is %v, must be 1s to 1h", c.Timeout)
	case c.Wait < time.Second || c.Wait > 24*time.Hour:
		return usage("--wait is %v, must be 1s to 24h", c.Wait)
	case c.SecretLen != 0 && c.SecretLen != 4 && c.SecretLen != 6 && c.SecretLen != 8:
		return usage("--secret-symbols is %d, must be 4, 6 or 8", c.SecretLen)
	case c.Seed != nil && c.Ranked:
		return usage("--seed and --ranked exclude each other: nobody may pick the seed of a ranked match")
	}
	world := c.world()
	if err := world.Valid(); err != nil {
		return usage("%v", err)
	}
	return nil
}

// world is the match with this side's team on both places, for checking.
func (c *Config) world() sim.Config {
	return sim.Config{Ruleset: c.Ruleset, Format: c.Format, Rounds: c.Rounds, Teams: [2][3]sim.FighterID{c.Team, c.Team}}
}

// delayPolicy: with a page the forecast has chosen the delay of a rollback
// match, and it stays.
func (c *Config) delayPolicy() rollback.DelayPolicy {
	switch {
	case c.FixedDelay:
		return rollback.DelayFixed
	case c.AutoDelay && c.Page == nil:
		return rollback.DelayAuto
	}
	return rollback.DelayByMode
}

// offer is what the opponent is told.
func (c *Config) offer() setup.Offer {
	o := match.Offer(sim.Config{Ruleset: c.Ruleset, Format: c.Format, Rounds: c.Rounds, Teams: [2][3]sim.FighterID{c.Team}}, 0)
	o.Ranked, o.Frames, o.Mode, o.Paths = c.Ranked, uint32(c.Frames), c.Mode, uint8(c.Paths)
	o.Build, o.Region = c.Build, rendezvous.CleanText(c.Region)
	if c.Host {
		if c.Seed != nil {
			o.Seeded, o.Seed = true, *c.Seed
		}
	} else {
		o.Explicit = c.Explicit
	}
	return o
}

func (c *Config) side() int {
	if c.Host {
		return 0
	}
	return 1
}

func (c *Config) sideName() string { return [2]string{"host", "join"}[c.side()] }

// print writes a contract line.
func (c *Config) print(format string, args ...any) {
	if c.Stdout != nil {
		// A closed stdout is the caller's wish not to read it.
		_, _ = fmt.Fprintf(c.Stdout, format+"\n", args...)
	}
}

// lanNames are the addresses among locals, two at most, under which others on
// this network reach port; of IPv6 only where there is no IPv4.
func lanNames(locals []netip.Addr, port uint16) []string {
	var names []string
	for _, four := range []bool{true, false} {
		for _, a := range locals {
			if a.Is4() == four && len(names) < 2 {
				names = append(names, netip.AddrPortFrom(a, port).String())
			}
		}
		if len(names) > 0 {
			break
		}
	}
	return names
}
