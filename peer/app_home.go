package peer

import (
	"context"
	"errors"
	"strings"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/sim"
	"backstep/sim/bot"
	"backstep/sim/data"
)

// home is the title screen and everything that starts from it.
func (a *app) home(ctx context.Context, start Start) error {
	screen := a.title("", start == StartJoin && noCode(a.c.Code))
	cmd, pending := a.first(start)
	began := time.Now()
	for {
		if !pending {
			a.page.Show(screen)
			var err error
			if cmd, err = a.choose(ctx, began); err != nil {
				if errors.Is(err, errIdle) {
					return nil
				}
				return err
			}
		}
		pending = false
		retry := cmd.Cmd
		if retry != "doctor" {
			a.asked = nil
		}
		var err error
		switch cmd.Cmd {
		case "host":
			err = a.host(ctx, cmd)
		case "join":
			err = a.join(ctx, cmd)
		case "play":
			err = a.sparring(ctx, cmd)
		case "train":
			err = a.train(ctx, cmd)
		case "replays":
			err = a.replays(ctx, nil)
		case page.CommandUpload:
			err = a.replays(ctx, cmd.Upload)
		case "doctor":
			// Back to where it was called from: the error is still there to be retried.
			if err = a.doctor(ctx, a.asked); errors.Is(err, errCancelled) {
				if screen.Title != nil {
					screen = a.title(screen.Title.Sentence, false)
				}
				continue
			}
		case "title":
		case "quit":
			return nil
		default:
			continue
		}
		began = time.Now()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case errors.Is(err, errIdle):
			return nil
		case err == nil, errors.Is(err, errCancelled):
			a.last = nil
			screen = a.title("", false)
		default:
			a.last = err
			a.c.Log.Warn().Str("event", "match_failed").Err(err).Msg("the match did not end as it should")
			screen = errorScreen(err, retry)
		}
		if a.c.Frames > 0 {
			if connected, _, _ := a.page.Connected(); !connected {
				return a.last // a fixed number of frames and nobody there: this was all
			}
		}
	}
}

// first is the command the program was started with.
func (a *app) first(start Start) (page.Command, bool) {
	switch start {
	case StartHost, StartPlay, StartTrain:
		return page.Command{Cmd: string(start)}, true
	case StartJoin:
		return page.Command{Cmd: "join"}, !noCode(a.c.Code)
	}
	return page.Command{}, false
}

// choose waits for a command on the title screen.
func (a *app) choose(ctx context.Context, began time.Time) (page.Command, error) {
	for {
		cmd, ok, err := a.next(ctx, now()+look.Microseconds())
		if err != nil || ok {
			return cmd, err
		}
		connected, ever, _ := a.page.Connected()
		if a.last != nil && !connected && !ever && time.Since(began) > errorPatience {
			return cmd, a.last
		}
		if a.idle(idlePatience) {
			return cmd, errIdle
		}
	}
}

func (a *app) title(sentence string, join bool) *page.Screen {
	relay := "this machine"
	if len(a.c.Relays) > 0 {
		relay = a.c.Relays[0]
	} else if a.settings.Relay != "" {
		relay = a.settings.Relay
	}
	return &page.Screen{Title: &page.Title{Version: a.c.Build, Relay: relay, Name: a.c.Name, Sentence: sentence, Join: join}}
}

func errorScreen(err error, retry string) *page.Screen {
	code := exitInternal
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		code = coded.ExitCode()
	}
	switch retry {
	case "host", "join", "play":
	default:
		retry = ""
	}
	return &page.Screen{Error: &page.ErrorScreen{Sentence: sentence(err.Error()), Code: code, Retry: retry}}
}

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// relays are those the player chose: for this lobby, on the command line, in
// the settings, in this order.
func (a *app) relays(wish string) ([]string, error) {
	switch {
	case wish != "":
	case len(a.c.Relays) > 0:
		return a.c.Relays, nil
	case a.settings.Relay != "":
		wish = a.settings.Relay
	default:
		return nil, nil
	}
	r, err := rendezvous.ParseRelay(wish)
	if err != nil {
		return nil, fail(exitUsage, match.EndError, err, "%v", err)
	}
	return []string{r}, nil
}

func (a *app) host(ctx context.Context, cmd page.Command) error {
	c := a.c
	c.Host = true
	var err error
	if c.Relays, err = a.relays(cmd.Relay); err != nil {
		return err
	}
	if err := c.choose(cmd); err != nil {
		return err
	}
	return a.versus(ctx, c, false)
}

// choose takes the rules a host picked on the page.
func (c *Config) choose(cmd page.Command) (err error) {
	if cmd.Rounds != nil {
		c.Rounds = uint8(max(1, min(*cmd.Rounds, sim.MaxRounds)))
	}
	if cmd.Ruleset != "" {
		if c.Ruleset, err = sim.ParseRuleset(cmd.Ruleset); err != nil {
			return fail(exitUsage, match.EndError, err, "%v", err)
		}
	}
	if cmd.Format != "" {
		if c.Format, err = sim.ParseFormat(cmd.Format); err != nil {
			return fail(exitUsage, match.EndError, err, "%v", err)
		}
	}
	c.fillTeam()
	return nil
}

// fillTeam gives the team as many fighters as the format has: further ones of
// the roster, or fewer.
func (c *Config) fillTeam() {
	cast := data.Embedded().Fighters()
	for k := range c.Team {
		switch {
		case k >= c.Format.Roster():
			c.Team[k] = 0
		case c.Team[k] == 0:
			c.Team[k] = cast[k%len(cast)].ID
		}
	}
}

// ParseInvite reads a lobby code out of what friends send each other: the code
// itself, or a link that carries it behind #.
func ParseInvite(text string) (rendezvous.Code, error) {
	if i := strings.LastIndexByte(text, '#'); i >= 0 {
		text = text[i+1:]
	}
	return rendezvous.ParseCode(strings.TrimSpace(text))
}

// inviteLink is the code as a link. The code stands behind #, which no server
// is ever sent.
func inviteLink(code string) string { return "backstep://join#" + code }

func (a *app) join(ctx context.Context, cmd page.Command) error {
	c := a.c
	c.Host = false
	if cmd.Code != "" {
		code, err := ParseInvite(cmd.Code)
		if err != nil {
			return fail(exitUsage, match.EndError, err, "%v", err)
		}
		c.Code = code
	}
	if noCode(c.Code) {
		return fail(exitUsage, match.EndError, nil, "type the code your opponent sees")
	}
	var err error
	if len(c.Code.Relays) > 0 {
		c.Relays = c.Code.Relays
	} else if c.Relays, err = a.relays(cmd.Relay); err != nil {
		return err
	}
	if len(c.Relays) == 0 {
		return fail(exitUsage, match.EndError, nil, "the code does not name a relay: paste it whole, with what stands behind @")
	}
	// A code typed here is good for one try.
	defer func() { a.c.Code = rendezvous.Code{} }()
	return a.versus(ctx, c, false)
}

// sparring plays against the machine: a relay here, a bot in a second process.
func (a *app) sparring(ctx context.Context, cmd page.Command) error {
	name := "medium"
	for _, n := range bot.Names() {
		if n == cmd.Bot {
			name = n
		}
	}
	c := a.c
	if err := c.choose(cmd); err != nil {
		return err
	}
	if team, ok := a.team(&c, cmd.Team); ok {
		c.Team = team
	}
	if c.Embed == nil {
		return fail(exitInternal, match.EndError, nil, "this program has no relay to play on")
	}
	e, err := c.Embed(ctx, "127.0.0.1:0")
	if err != nil {
		return fail(exitInternal, match.EndError, err, "no relay could be started on this machine: %v", err)
	}
	defer e.Close()
	c.Host = true
	c.Relays, c.DefaultRelay = []string{loopback(e.Port)}, ""
	codes := make(chan string, 1)
	c.onCode = func(code string) {
		select {
		case codes <- code:
		default:
		}
	}
	sctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() {
		err := a.spar(sctx, codes, name)
		if err != nil {
			stop(fail(exitInternal, match.EndError, err, "the opponent's process failed: %v", err))
		}
		ended <- err
	}()
	err = a.versus(mctx, c, true)
	cancel()
	<-ended
	return err
}

func noCode(c rendezvous.Code) bool { return c.Lookup == rendezvous.Lookup{} }
