package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"backstep/cmd/internal/settings"
	"backstep/cmd/internal/version"
	"backstep/fec"
	"backstep/natpunch"
	"backstep/natpunch/rendezvous"
	"backstep/peer"
	"backstep/peer/impair"
	"backstep/peer/setup"
	"backstep/rollback"
	"backstep/rollback/quality"
	"backstep/sim"
)

// options are the settings of the command.
type options struct {
	set *settings.Set

	relay                                             *[]string
	relayToken, input, report, record, paths, impair  *string
	delay, mode, fec, seed, ruleset, format, team     *string
	name, region, dataDir, browser, pageAddr          *string
	logLevel, logFormat                               *string
	frames, window, rounds, secretSymbols             *int
	headless, ranked, addresses, version, printConfig *bool
	rematch, noPortMap, json                          *bool
	timeout, wait                                     *time.Duration
}

func newOptions() *options {
	s := settings.New("peer", "BACKSTEP")
	f := s.Flags
	def := sim.DefaultConfig()
	o := &options{
		set:           s,
		relay:         s.List("relay", nil, "`HOST[:PORT]` of the relay; several are tried in order"),
		relayToken:    f.String("relay-token", "", "`TOKEN` of a private relay"),
		secretSymbols: f.Int("secret-symbols", 4, "symbols in the secret half of the code, `N`: 4, 6 or 8"),
		headless:      f.Bool("headless", false, "no page; needs --input"),
		input:         f.String("input", "page", "`SOURCE` of this side's inputs: page, trace:FILE:COLUMN or bot:NAME[:SEED]"),
		frames:        f.Int("frames", 0, "play `N` frames; 0 plays until the match is decided"),
		report:        f.String("report", "", "write the match report to `FILE`"),
		record:        f.String("record", "", "write the replay to `FILE`"),
		paths:         f.String("path", "auto", "permitted paths, a `LIST` of lan, direct, relay, tunnel or auto"),
		noPortMap:     f.Bool("no-portmap", false, "do not ask the router for an outside port (PCP, NAT-PMP, UPnP)"),
		impair:        f.String("impair", "", "damage outgoing datagrams by `SPEC`, for example delay=40ms,jitter=5ms,loss=5%"),
		delay:         f.String("delay", "", "input delay of `N` frames, or auto; 0 if headless, auto with the page"),
		mode:          f.String("mode", "", "`MODE`: auto, rollback, hybrid (rollback with 1 to 4 frames of delay) or delay (no rollback); rollback if headless, auto with the page"),
		fec:           f.String("fec", "auto", "`MODE` of error correction: auto, off, xor or rs"),
		window:        f.Int("window", 8, "frames that may be predicted, `N` from 1 to 20"),
		seed:          f.String("seed", "", "the host fixes the match seed to `N`, decimal or with 0x hexadecimal"),
		ruleset:       f.String("ruleset", strings.ToLower(def.Ruleset.String()), "`NAME` of the rules"),
		format:        f.String("format", def.Format.String(), "`FORMAT`: 1v1, 2v2, 3v3 or trinity"),
		team:          f.String("team", "", "this side's fighters, `A[,B,C]`"),
		rounds:        f.Int("rounds", int(def.Rounds), "rounds to win, `N`"),
		rematch:       f.Bool("rematch", false, "headless: play again as long as the opponent wants to"),
		ranked:        f.Bool("ranked", false, "play a ranked match"),
		name:          f.String("name", "", "`NAME` the opponent sees"),
		region:        f.String("region", "", "`REGION` the opponent sees"),
		dataDir:       f.String("data-dir", "", "`DIR` for this player's files"),
		timeout:       f.Duration("timeout", 10*time.Second, "how long the opponent may be silent"),
		wait:          f.Duration("wait", 15*time.Minute, "how long a host waits for an opponent"),
		browser:       f.String("browser", "", "`CMD` that opens the page, or none; empty for the system's"),
		pageAddr:      f.String("page-addr", "127.0.0.1:0", "`HOST:PORT` of the page, on this machine"),
		addresses:     f.Bool("show-addresses", false, "show addresses in the report and in what doctor finds"),
		json:          f.Bool("json", false, "doctor: answer as JSON"),
		logLevel:      f.String("log-level", "info", "`LEVEL`: trace, debug, info, warn, error or disabled"),
		logFormat:     f.String("log-format", "console", "`FORMAT`: json or console"),
		version:       f.Bool("version", false, "print the version and exit"),
		printConfig:   f.Bool("print-config", false, "print every setting with its source and exit"),
	}
	s.File("config", "", "`FILE` of lines \"flag value\"")
	s.Secret("relay-token")
	s.LineOnly("version", "print-config", "json")
	return o
}

// config is what the settings mean to the peer.
func (o *options) config(command string, log zerolog.Logger, s streams) (c peer.Config, err error) {
	usage := func(err error) (peer.Config, error) { return c, settings.Usagef("%v", err) }
	c = peer.Config{
		Host: command != "join", RelayToken: *o.relayToken, SecretLen: *o.secretSymbols, Embed: embed(log),
		Input: *o.input, ReportFile: *o.report, RecordFile: *o.record,
		Window: *o.window, Ranked: *o.ranked, Rematch: *o.rematch, NoPortMap: *o.noPortMap, DataDir: *o.dataDir, Name: rendezvous.CleanText(*o.name), Region: *o.region,
		Timeout: *o.timeout, Wait: *o.wait, ShowAddresses: *o.addresses,
		Build: version.Build(build), Stdout: s.out, Log: log,
	}
	if s.terminal {
		c.HUD = s.err
	}
	if *o.secretSymbols == 0 {
		return usage(fmt.Errorf("--secret-symbols is 0, must be 4, 6 or 8"))
	}
	if *o.frames < 0 || *o.frames > 1<<30 {
		return usage(fmt.Errorf("--frames is %d, must be 0 to %d", *o.frames, 1<<30))
	}
	c.Frames = int32(*o.frames)
	if c.Relays, err = relays(*o.relay); err != nil {
		return usage(err)
	}
	if k := o.set.Source("relay").Kind; len(c.Relays) > 0 && (k == settings.Env || k == settings.File) {
		c.DefaultRelay = c.Relays[0]
	}
	if c.Paths, err = natpunch.ParseAllowed(*o.paths); err != nil {
		return usage(fmt.Errorf("--path: %w", err))
	}
	if c.Impair, err = impair.Parse(*o.impair); err != nil {
		return usage(fmt.Errorf("--impair: %w", err))
	}
	if c.FEC, err = fec.ParseMode(*o.fec); err != nil {
		return usage(fmt.Errorf("--fec: %w", err))
	}
	if command == "play" {
		return c, o.playConfig(&c)
	}
	return c, o.rules(&c)
}

// rules reads what the two sides have to agree on, and what this version can.
func (o *options) rules(c *peer.Config) (err error) {
	switch {
	case *o.headless && *o.input == "page":
		return settings.Usagef("--headless needs --input trace:FILE:COLUMN or --input bot:NAME")
	case !*o.headless && *o.rematch:
		return settings.Usagef("--rematch is for --headless; on the page you are asked")
	case !*o.headless:
		if err := o.page(c); err != nil {
			return err
		}
	}
	return o.world(c)
}

// page adds the page.
func (o *options) page(c *peer.Config) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program's own file is not known: %w", err)
	}
	c.Page = &peer.PageConfig{Addr: *o.pageAddr, Browser: *o.browser, Exe: exe}
	return nil
}

// timing reads delay, mode and how far the window may grow: a given one stays.
func (o *options) timing(c *peer.Config) (err error) {
	if !o.set.Given("window") {
		c.Deepest = rollback.MaxWindow
	}
	switch *o.delay {
	case "auto":
		c.AutoDelay = true
	case "":
		c.AutoDelay = c.Page != nil
	default:
		if c.Delay, err = strconv.Atoi(*o.delay); err != nil {
			return settings.Usagef("--delay is %q, must be a number of frames or auto", *o.delay)
		}
		c.FixedDelay = true
	}
	switch *o.mode {
	case "rollback":
		c.Mode = quality.Rollback
	case "hybrid":
		c.Mode = quality.Hybrid
	case "delay":
		c.Mode = quality.Delay
	case "":
		c.Mode, c.AutoMode = quality.Rollback, c.Page != nil
	case "auto":
		c.Mode, c.AutoMode = quality.Rollback, true
	default:
		return settings.Usagef("--mode %q is unknown, must be auto, rollback, hybrid or delay", *o.mode)
	}
	return nil
}

func (o *options) world(c *peer.Config) (err error) {
	if err := o.timing(c); err != nil {
		return err
	}
	if *o.seed != "" {
		n, err := parseSeed(*o.seed)
		if err != nil {
			return settings.Usagef("--seed is %q, must be a whole number below 2^64, decimal or with 0x hexadecimal", *o.seed)
		}
		c.Seed = &n
	}
	if c.Ruleset, err = sim.ParseRuleset(*o.ruleset); err != nil {
		return settings.Usagef("--ruleset: %v", err)
	}
	if c.Format, err = sim.ParseFormat(*o.format); err != nil {
		return settings.Usagef("--format: %v", err)
	}
	if *o.rounds < 1 || *o.rounds > sim.MaxRounds {
		return settings.Usagef("--rounds is %d, must be 1 to %d", *o.rounds, sim.MaxRounds)
	}
	c.Rounds = uint8(*o.rounds)
	if *o.team == "" {
		c.Team = sim.DefaultConfig().Teams[map[bool]int{true: 0, false: 1}[c.Host]]
	} else if c.Team, err = sim.ParseTeam(*o.team); err != nil {
		return settings.Usagef("--team: %v", err)
	}
	for name, bit := range map[string]setup.Setting{"ruleset": setup.SetRuleset, "format": setup.SetFormat, "rounds": setup.SetRounds, "ranked": setup.SetRanked} {
		if o.set.Given(name) {
			c.Explicit |= bit
		}
	}
	return nil
}

// parseSeed reads a decimal number, or one of base 16 with 0x before it. A report shows seeds in base 16.
func parseSeed(text string) (uint64, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return strconv.ParseUint(digits, 16, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

// playConfig is for `peer play`: everything on this machine.
func (o *options) playConfig(c *peer.Config) error {
	if len(c.Relays) > 0 && o.set.Source("relay").Kind == settings.Flag {
		return settings.Usagef("peer play runs its own relay; use peer host and peer join for another one")
	}
	if !*o.headless {
		return o.rules(c)
	}
	c.Relays, c.DefaultRelay = nil, ""
	if c.Input == "page" {
		c.Input = "bot:medium:1"
	}
	return o.world(c)
}

// code is the lobby code of a joiner, asked for when it is not given.
func code(rest []string, s streams) (rendezvous.Code, error) {
	text := strings.Join(rest, " ")
	if text == "" {
		fmt.Fprint(s.err, "lobby code: ")
		line, err := bufio.NewReader(s.in).ReadString('\n')
		if text = strings.TrimSpace(line); text == "" {
			fmt.Fprintln(s.err)
			if err != nil {
				return rendezvous.Code{}, settings.Usagef("no lobby code was given: peer join CODE")
			}
			return rendezvous.Code{}, settings.Usagef("the lobby code is empty: peer join CODE")
		}
	}
	c, err := peer.ParseInvite(text)
	if err != nil {
		return c, settings.Usagef("%v", err)
	}
	return c, nil
}

func relays(names []string) ([]string, error) {
	out := make([]string, 0, len(names))
	for _, n := range names {
		r, err := rendezvous.ParseRelay(n)
		if err != nil {
			return nil, fmt.Errorf("--relay: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

// joinRelays are those of the code, else those of the settings.
func (o *options) joinRelays(c rendezvous.Code) ([]string, error) {
	if len(c.Relays) > 0 {
		return c.Relays, nil
	}
	out, err := relays(*o.relay)
	if err != nil {
		return nil, settings.Usagef("%v", err)
	}
	if len(out) == 0 {
		return nil, settings.Usagef("the code does not name a relay: paste it whole, with what stands behind @, or give --relay HOST")
	}
	return out, nil
}
