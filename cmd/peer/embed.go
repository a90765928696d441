package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"backstep/cmd/internal/version"
	"backstep/peer"
	"backstep/relay"
)

// embed gives the peer a relay to run in this process. It keeps its secret in memory: it lives as long as the match.
func embed(log zerolog.Logger) peer.Embed {
	return func(ctx context.Context, listen string) (peer.Embedded, error) {
		server, err := relay.New(relay.Config{
			Listen: []string{listen}, Workers: 1, Version: version.Build(build),
			Log: log.Level(max(log.GetLevel(), zerolog.WarnLevel)), DrainLimit: -1,
		})
		if err != nil {
			return peer.Embedded{}, err
		}
		port := server.Addrs()[0].Port()
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() {
			defer close(done)
			// Its end is ours; an error would show as an unreachable relay. Closed before it ran is how a match ends that never began.
			if err := server.Run(ctx); err != nil && !errors.Is(err, relay.ErrRunning) {
				log.Warn().Str("event", "embedded_relay").Err(err).Msg("the relay in this process ended")
			}
		}()
		return peer.Embedded{Port: port, Close: func() {
			cancel()
			_ = server.Close()
			<-done
		}}, nil
	}
}
