package peer

import (
	"context"
	"strings"
	"time"

	"backstep/peer/doctor"
	"backstep/peer/page"
)

// doctor looks at the network of this machine and shows what it finds, until
// the player goes back to where the doctor was called from. at is the relay it
// asks; nil stands for the player's own.
func (a *app) doctor(ctx context.Context, at []string) error {
	if at == nil {
		var err error
		if at, err = a.relays(""); err != nil {
			return err
		}
	}
	addresses := false
	for {
		again, err := a.examine(ctx, at, &addresses)
		if !again {
			return err
		}
	}
}

// examination is one run of the doctor as the page shows it.
type examination struct {
	app   *app
	began int64
	// addresses tells whether those that were found are shown. They are always
	// looked up, so that showing them needs no second examination, and leave this
	// process only when they are asked for.
	addresses bool
	report    doctor.Report
	checks    []string
	running   bool
}

// examine runs the doctor once; again tells that the player wants another run.
func (a *app) examine(ctx context.Context, relays []string, addresses *bool) (again bool, err error) {
	x := &examination{app: a, began: now(), addresses: *addresses, checks: doctor.Checks(), running: true}
	x.report.Build = a.c.Build
	if len(relays) > 0 {
		x.report.Relay = relays[0]
	}
	rctx, cancel := context.WithCancel(ctx)
	found, ended, done := make(chan doctor.Finding), make(chan *doctor.Report, 1), make(chan struct{})
	go func() {
		r, err := doctor.Run(rctx, doctor.Config{Relays: relays, ShowAddresses: true, NoPortMap: a.c.NoPortMap, Build: a.c.Build, Probes: a.c.probes}, func(f doctor.Finding) {
			select {
			case found <- f:
			case <-rctx.Done():
			}
		})
		if err != nil {
			r = nil // it was stopped; nobody waits for a verdict
		}
		ended <- r
		close(done)
	}()
	defer func() {
		cancel()
		<-done
	}()
	tick := time.NewTicker(look)
	defer tick.Stop()
	x.show()
	for {
		select {
		case f := <-found:
			x.report.Findings = append(x.report.Findings, f)
		case r := <-ended:
			if r != nil {
				x.report, x.running = *r, false
			}
		case cmd := <-a.page.Commands():
			if a.common(cmd) {
				continue
			}
			switch cmd.Cmd {
			case "title", "cancel", "leave":
				return false, errCancelled
			case "quit":
				return false, errIdle
			case "doctor":
				if cmd.Addresses == nil {
					return true, nil
				}
				x.addresses, *addresses = *cmd.Addresses, *cmd.Addresses
			default:
				continue
			}
		case <-tick.C:
			if a.idle(idlePatience) {
				return false, errIdle
			}
			continue
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		x.show()
	}
}

// show puts what is known so far on the page.
func (x *examination) show() {
	s := &page.Doctor{Relay: x.report.Relay, Running: x.running, Addresses: x.addresses, Checks: x.checks, Findings: []page.Finding{}}
	var text strings.Builder
	for _, f := range x.report.Findings {
		if !x.addresses {
			f.Addresses = nil
		}
		p := page.Finding{ID: f.ID, Severity: string(f.Severity), Summary: f.Summary, Meaning: f.Meaning, Advice: f.Advice, Addresses: []string{}}
		for _, a := range f.Addresses {
			p.Addresses = append(p.Addresses, a.String())
		}
		s.Findings = append(s.Findings, p)
		_ = f.WriteText(&text) // a Builder takes everything
	}
	out := &page.Screen{Doctor: s}
	if x.running {
		out.Wait = wait("your network is looked at", x.began, doctor.Limit.Microseconds())
	} else {
		s.Severity, s.Verdict = string(x.report.Severity), x.report.Verdict()
		text.WriteString(s.Verdict + "\n")
		s.Text = text.String()
	}
	x.app.page.Show(out)
}
