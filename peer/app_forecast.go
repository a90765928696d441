package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"backstep/natpunch/lobby"
	"backstep/peer/lounge"
	"backstep/peer/page"
	"backstep/rollback/quality"
	"backstep/sim"
)

const (
	probeTime = 3_000_000 // µs
	poll      = 4_000     // µs between looks at what arrived outside a match
	refresh   = 200_000   // µs between looks at whether the screen has changed
)

// stay runs the lounge until done, an error or a command that ends it. screen
// is shown when it has changed.
func (a *app) stay(ctx context.Context, m *company, screen func() *page.Screen, command func(page.Command) error, done func() (bool, error)) error {
	var shown string
	var showAt int64
	for {
		at := now()
		next := at + refresh
		if m.lounge != nil {
			next = m.lounge.Step(at)
		}
		if ok, err := done(); ok || err != nil {
			return err
		}
		a.presence(m, at)
		if at >= showAt {
			showAt = at + refresh
			s := screen()
			_, part := s.Part()
			if b, err := json.Marshal(part); err == nil && string(b) != shown {
				shown = string(b)
				a.page.Show(s)
			}
			if a.idle(idlePatience) {
				a.goodbye(m)
				return errIdle
			}
		}
		cmd, ok, err := a.next(ctx, min(next, at+poll))
		switch {
		case err != nil:
			a.goodbye(m)
			return err
		case !ok:
			continue
		case cmd.Cmd == "quit":
			a.goodbye(m)
			return errIdle
		case cmd.Cmd == "chat":
			a.chat(m, cmd.Text)
			continue
		}
		showAt = 0
		if err := command(cmd); err != nil {
			a.goodbye(m)
			return err
		}
	}
}

// goodbye tells the opponent that this side leaves.
func (a *app) goodbye(m *company) {
	if m.lounge == nil {
		return
	}
	m.lounge.Set(lounge.Leave)
	for !m.lounge.Gone() {
		next := m.lounge.Step(now())
		time.Sleep(time.Duration(max(next-now(), 100)) * time.Microsecond)
	}
}

// accord shows the forecast until both players accept.
func (a *app) accord(ctx context.Context, m *company) error {
	if m.sparring {
		if err := a.during(ctx, m.ch.accept); err != nil {
			return err
		}
		return a.settle(ctx, m)
	}
	began := now()
	probed := m.ch.link != nil
	if probed {
		a.lounge(m, 0)
		m.lounge.Probe(began + probeTime)
	}
	you, they := "asked", "asked"
	screen := func() *page.Screen {
		s := &page.Screen{Forecast: m.forecast(began, probed)}
		s.Forecast.You, s.Forecast.They = you, they
		if you == "accepted" {
			s.Wait = wait("your opponent has not accepted yet", began, promptLimit.Microseconds())
		}
		return s
	}
	command := func(cmd page.Command) error {
		switch cmd.Cmd {
		case "accept":
			you = "accepted"
			return m.session.Send(lobby.MsgAccept, nil) // the session does not say it twice
		case "decline", "cancel", "leave", "title":
			return errCancelled
		}
		return nil
	}
	done := func() (bool, error) {
		if m.lounge != nil && m.lounge.Err() != nil {
			return false, errOf(m.lounge.Err())
		}
		select {
		case <-m.ch.signals.accepted:
			they = "accepted"
		default:
			select {
			case <-m.ch.signals.gone:
				return false, m.ch.signals.goneErr()
			default:
			}
		}
		if now()-began > promptLimit.Microseconds() {
			return false, lobby.ErrNoAnswer
		}
		return you == "accepted" && they == "accepted", nil
	}
	if err := a.stay(ctx, m, screen, command, done); err != nil {
		return err
	}
	return a.settle(ctx, m)
}

// settle looks for the direct path and takes note of what was measured.
func (a *app) settle(ctx context.Context, m *company) error {
	if err := a.during(ctx, func(ctx context.Context) error { return m.c.settle(ctx, m.ch, m.session) }); err != nil {
		return err
	}
	if m.lounge == nil {
		a.lounge(m, 0)
	}
	return nil
}

// forecast is what the measurements so far promise.
func (m *company) forecast(began int64, probed bool) *page.Forecast {
	f := &page.Forecast{Opponent: m.opponent(), Side: m.c.side(), Warnings: []string{}, Path: m.ch.paths.Path().String(), Mode: m.tuned().Mode.String(), Delay: m.c.Delay}
	if !probed {
		f.Probe = 1
		f.Sentence = "Nothing can be measured before both of you accept, because the relay may not be used."
		return f
	}
	f.Probe = min(1, float64((now()-began)/100_000)/float64(probeTime/100_000))
	g := m.lounge.Figures()
	if g.Samples == 0 {
		f.Sentence = "Measuring the connection…"
		return f
	}
	if f.Probe < 1 || m.figures.Samples == 0 {
		m.figures = g
	}
	g = m.figures
	ping, jitter, loss := tenth(millis(g.RTT)), tenth(millis(g.Jitter)), tenth(float64(g.Loss)/10_000)
	f.Ping, f.Jitter, f.Loss = &ping, &jitter, &loss
	v := quality.Handshake([]quality.Sample{{RTT: g.RTT, Jitter: g.Jitter, Loss: g.Loss}}, quality.DefaultLimits())
	m.grade = v.Grade.String()
	f.Grade = m.grade
	c := m.tuned()
	f.Delay, f.Mode = c.Delay, c.Mode.String()
	f.Depth = depthOf(g, c.Delay)
	f.Sentence = forecastSentence(v.Grade, g, f.Depth)
	if c.Mode == quality.Delay {
		f.Depth, f.Sentence = [2]int{}, delaySentence(g, c.Delay)
	}
	if g.Loss > 20_000 {
		f.Warnings = append(f.Warnings, "Packets get lost. If one of you plays over Wi-Fi, a cable helps most.")
	}
	if g.Jitter > quality.BorderlineJitterMicros {
		f.Warnings = append(f.Warnings, "The connection is uneven, which is typical of Wi-Fi and of somebody downloading.")
	}
	return f
}

func tenth(v float64) float64 { return float64(int(v*10+0.5)) / 10 }

// tuned is the configuration with delay and mode as the measurement says: the
// grade chooses the mode (QUAL-02 to QUAL-04), the mode the delay (S-01).
func (m *company) tuned() Config {
	c := m.c
	if c.AutoMode {
		c.Mode = quality.Rollback
	}
	g := m.figures
	if g.Samples == 0 {
		return c
	}
	if c.AutoMode {
		c.Mode = quality.Handshake([]quality.Sample{{RTT: g.RTT, Jitter: g.Jitter, Loss: g.Loss}}, quality.DefaultLimits()).Mode
	}
	if c.AutoDelay {
		c.Delay = quality.AutoDelay(c.Mode, quality.Figures{RTT: g.RTT, Jitter: g.Jitter, Loss: g.Loss}, sim.SimulationHz)
	}
	return c
}

// delaySentence is the forecast of a match in delay mode.
func delaySentence(g lounge.Figures, delay int) string {
	why := "Much gets lost on the way"
	if g.RTT > quality.DefaultLimits().DelayRTT {
		why = "You are far apart"
	}
	return fmt.Sprintf("%s: the match runs in delay mode, without rollback. Your inputs take effect after %d frames.", why, delay)
}

// depthOf is between which depths of rollback a match will run: the pacing
// splits round trip and jitter, in whole frames, between the two sides.
func depthOf(g lounge.Figures, delay int) [2]int {
	const tick = 1_000_000 / sim.SimulationHz
	frames := int((g.RTT + 500 + 2*g.Jitter + tick - 1) / tick)
	return [2]int{max(0, frames/2-delay), max(0, (frames+1)/2-delay)}
}

func forecastSentence(grade quality.Grade, g lounge.Figures, depth [2]int) string {
	expect := fmt.Sprintf("Expect %d–%d rollback frames.", depth[0], depth[1])
	if depth[0] == depth[1] {
		expect = fmt.Sprintf("Expect %d rollback frames.", depth[0])
		if depth[0] == 1 {
			expect = "Expect 1 rollback frame."
		}
	}
	switch grade {
	case quality.Good:
		return "A good connection. " + expect
	case quality.Borderline:
		return "A playable connection. " + expect
	}
	if g.RTT > quality.DefaultLimits().DelayRTT {
		return "You are far apart: moves will visibly jump. " + expect
	}
	return "Much gets lost on the way: expect jumps and short freezes. " + expect
}
