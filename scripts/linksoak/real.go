package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/natpunch/rendezvous"
	"backstep/peer"
	"backstep/peer/impair"
	"backstep/peer/match"
	"backstep/relay"
	"backstep/rollback/quality"
	"backstep/sim"
)

// errOver ends the soak as it was meant to.
var errOver = errors.New("the time is over")

// goodbye is how long the peers may take to end.
const goodbye = 20 * time.Second

// codes picks the lobby code out of what the host prints.
type codes chan string

func (c codes) Write(b []byte) (int, error) {
	if code, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "lobby "); ok {
		select {
		case c <- code:
		default:
		}
	}
	return len(b), nil
}

// playReal plays two peers over real sockets in this process.
func playReal(out *lines, play time.Duration, faults impair.Spec) error {
	if out.every == 0 {
		out.every = 10 * time.Second
	}
	r, err := relay.New(relay.Config{Listen: []string{"127.0.0.1:0"}, DrainLimit: -1, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	rctx, stopRelay := context.WithCancel(context.Background())
	relayed := make(chan error, 1)
	go func() { relayed <- r.Run(rctx) }()
	defer func() {
		stopRelay()
		_ = r.Close()
		<-relayed
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)

	begin := time.Now()
	var t tally
	var werr error
	next := begin.Add(out.every)
	var once sync.Once
	started := make(chan struct{})
	watch := func(l *match.Loop) {
		t.take(l)
		once.Do(func() { close(started) })
		if time.Now().Before(next) {
			return
		}
		next = next.Add(out.every)
		x := measure(t.sum())
		x.At = time.Since(begin).Round(time.Millisecond).Seconds()
		if werr = out.write(x); werr != nil {
			cancel(werr)
		}
	}
	code := make(codes, 1)
	ended := make(chan error, 2)
	base := config(r.Addrs()[0].String(), faults)
	host := base
	host.Host, host.Input, host.Stdout, host.Watch = true, "bot:hard:1", code, watch
	go func() { ended <- peer.Run(ctx, host) }()
	var text string
	select {
	case text = <-code:
	case err := <-ended:
		return err
	}
	join := base
	join.Input, join.Impair.Seed = "bot:medium:2", faults.Seed+1
	if join.Code, err = rendezvous.ParseCode(text); err != nil {
		return err
	}
	go func() { ended <- peer.Run(ctx, join) }()

	// The time counts from the first tick: on a bad line the handshake takes a while.
	select {
	case <-started:
	case err := <-ended:
		return fmt.Errorf("a peer ended before the match: %w", err)
	}
	select {
	case err := <-ended:
		return fmt.Errorf("a peer ended after %v: %w", time.Since(begin).Round(time.Second), err)
	case <-time.After(play):
	}
	cancel(errOver)
	for range 2 {
		select {
		case err := <-ended:
			// One of them may hear the other's goodbye first.
			if err != nil && !errors.Is(err, errOver) && !errors.Is(err, match.ErrOpponentLeft) {
				return err
			}
		case <-time.After(goodbye):
			return errors.New("the peers did not end")
		}
	}
	x := measure(t.sum())
	x.At = time.Since(begin).Round(time.Millisecond).Seconds()
	return errors.Join(werr, out.write(x), failed(x))
}

// failed looks at the end of a soak.
func failed(x line) error {
	switch {
	case x.Desyncs > 0:
		return fmt.Errorf("%d desyncs", x.Desyncs)
	case x.Frames == 0:
		return errors.New("no frame was played")
	}
	return nil
}

func config(relayAddr string, faults impair.Spec) peer.Config {
	def := sim.DefaultConfig()
	return peer.Config{Relays: []string{relayAddr}, Window: 8, Rematch: true, Paths: natpunch.AllowAuto &^ natpunch.AllowTunnel, Impair: faults, FEC: fec.Auto, Mode: quality.Rollback,
		Rounds: 5, Ruleset: def.Ruleset, Team: def.Teams[0], Timeout: 10 * time.Second, Wait: time.Minute, Build: "linksoak", Log: zerolog.Nop()}
}
