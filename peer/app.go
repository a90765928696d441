package peer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"time"

	"backstep/peer/archive"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/source"
)

// Start is where the page begins.
type Start string

// The beginnings, one a command.
const (
	StartTitle Start = ""
	StartHost  Start = "host"
	StartJoin  Start = "join" // without a code: the page asks for it
	StartPlay  Start = "play"
	StartTrain Start = "train"
)

// How long nobody may look at the page before the program gives up waiting.
const (
	errorPatience = 30 * time.Second // at an error that nobody saw
	idlePatience  = 10 * time.Minute // after a tab was closed, outside a match
	look          = time.Second      // between two looks at that
)

// errCancelled: the player went back.
var errCancelled = errors.New("cancelled")

// errIdle: the tab was closed and nobody came back.
var errIdle = errors.New("nobody looks at the page any more")

// app is what stands behind the page. One goroutine owns it; it reads the
// commands of the page between everything it does.
//
//	title ─┬─ host, join ──> meet ──> forecast ──> select ──> fight ──> result ─┬─ again on the same link
//	       ├─ play ─────────────────────────────────────────────^               └─ title
//	       ├─ train, replays, theatre, doctor ──> title
//	       └─ quit
type app struct {
	c        Config
	page     *page.Server
	archive  *archive.Archive
	settings page.Settings
	unsaved  bool
	named    bool // the name was given on the command line
	spar     func(ctx context.Context, code <-chan string, bot string) error
	matches  int      // pictures shown so far, so that the page forgets the one before
	last     error    // of the last attempt to play
	asked    []string // the relays of that attempt, for the doctor
}

// RunPage serves the page until the player quits or ctx ends, whose cause it
// then returns. An error of a match is shown there; it is returned only if
// nobody looks.
func RunPage(ctx context.Context, c Config, start Start) error {
	c.fillTeam() // the format says how many; the page lets the player choose
	if err := c.check(); err != nil {
		return err
	}
	if c.Input != "page" && c.Input != "" {
		if _, err := source.Open(c.Input, c.side()); err != nil {
			return fail(exitUsage, match.EndError, err, "%v", err)
		}
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	a, err := newApp(c)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- a.page.Run() }()
	c.print("page %s", a.page.URL())
	if err := page.OpenBrowser(c.Page.Browser, a.page.URL()); err != nil {
		c.Log.Info().Str("event", "browser").Err(err).Msg("no browser was opened; open the address of the page yourself")
	}
	err = a.home(ctx, start)
	a.page.Show(&page.Screen{Bye: &page.Bye{Sentence: "Backstep has ended. This tab can be closed."}})
	a.page.Goodbye(200 * time.Millisecond)
	a.page.Close()
	if serr := <-served; err == nil {
		err = serr
	}
	return err
}

func newApp(c Config) (*app, error) {
	if c.Page == nil {
		return nil, fail(exitInternal, match.EndError, nil, "the page was not set up")
	}
	dir := c.DataDir
	if dir == "" {
		var err error
		if dir, err = archive.DefaultDir(); err != nil {
			return nil, fail(exitInternal, match.EndError, err, "%v", err)
		}
	}
	store, err := openArchive(dir)
	if err != nil {
		return nil, err
	}
	p, err := page.New(page.Config{Addr: c.Page.Addr, Build: c.Build, Now: now, Log: c.Log})
	switch {
	case errors.Is(err, page.ErrAddr), errors.As(err, new(*net.AddrError)):
		return nil, fail(exitUsage, match.EndError, err, "--page-addr: %v", err)
	case err != nil:
		return nil, fail(exitInternal, match.EndError, err, "the page cannot be served: %v; choose another --page-addr", err)
	}
	a := &app{c: c, page: p, archive: store, named: c.Name != ""}
	if a.spar = c.spar; a.spar == nil {
		a.spar = func(ctx context.Context, code <-chan string, bot string) error {
			return opponentProcess(ctx, c.Page.Exe, code, c.Log.GetLevel().String(), bot, true)
		}
	}
	a.loadSettings()
	return a, nil
}

// openArchive opens the player's directory, or says what to do instead.
func openArchive(dir string) (*archive.Archive, error) {
	store, err := archive.Open(dir)
	if err != nil {
		return nil, fail(exitInternal, match.EndError, err, "the directory for this player's files cannot be used: %v; give another one with --data-dir", err)
	}
	return store, nil
}

func (a *app) loadSettings() {
	a.settings = page.DefaultSettings()
	b, err := a.archive.Settings()
	if err == nil {
		var s page.Settings
		if s, err = page.ParseSettings(b); err == nil {
			a.settings = s
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.c.Log.Warn().Str("event", "settings").Err(err).Msg("the settings of the page cannot be used; the defaults are, until new ones are saved")
	}
	a.applySettings()
}

func (a *app) applySettings() {
	if !a.named {
		a.c.Name = a.settings.Name
	}
	a.page.Settings(&a.settings)
}

// takeSettings makes new settings count; flushSettings writes them down.
func (a *app) takeSettings(raw json.RawMessage) {
	s, err := page.ParseSettings(raw)
	if err != nil {
		a.page.Notice("warn", "The settings were not saved: "+err.Error())
		a.page.Settings(&a.settings)
		return
	}
	a.settings, a.unsaved = s, true
	a.applySettings()
}

func (a *app) flushSettings() {
	if !a.unsaved {
		return
	}
	a.unsaved = false
	b, err := json.MarshalIndent(a.settings, "", "\t")
	if err == nil {
		err = a.archive.SaveSettings(append(b, '\n'))
	}
	if err != nil {
		a.page.Notice("warn", "The settings hold until the program ends, but could not be saved: "+err.Error())
	}
}

// common handles what can be asked for anywhere.
func (a *app) common(cmd page.Command) bool {
	if cmd.Cmd != "settings" {
		return false
	}
	a.takeSettings(cmd.Settings)
	a.flushSettings()
	return true
}

// next waits for a command until the time at (µs of now) and reports whether
// one came. The error is the cause of ctx.
func (a *app) next(ctx context.Context, at int64) (cmd page.Command, ok bool, err error) {
	wait := time.Duration(max(at-now(), 0)) * time.Microsecond
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case cmd = <-a.page.Commands():
			if a.common(cmd) {
				continue
			}
			return cmd, true, nil
		case <-timer.C:
			return cmd, false, nil
		case <-ctx.Done():
			return cmd, false, context.Cause(ctx)
		}
	}
}

// idle tells that a tab was here and has been gone for long.
func (a *app) idle(patience time.Duration) bool {
	connected, ever, changed := a.page.Connected()
	return !connected && ever && time.Since(changed) > patience
}

// during runs fn while the player may cancel.
func (a *app) during(ctx context.Context, fn func(ctx context.Context) error) error {
	wctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- fn(wctx) }()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if cause := context.Cause(wctx); errors.Is(cause, errCancelled) || errors.Is(cause, errIdle) {
				return cause
			}
			return err
		case cmd := <-a.page.Commands():
			if a.common(cmd) {
				continue
			}
			switch cmd.Cmd {
			case "cancel", "leave", "decline", "title":
				cancel(errCancelled)
			case "quit":
				cancel(errIdle)
			}
		case <-tick.C:
			if a.idle(idlePatience) {
				cancel(errIdle)
			}
		}
	}
}
