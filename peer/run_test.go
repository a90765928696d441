package peer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"backstep/peer/match"
	"backstep/sim"
)

// Without a page nothing else says who won.
func TestTheEndIsTold(t *testing.T) {
	for _, tt := range []struct {
		winner sim.Winner
		want   string
	}{{sim.HostWins, `"winner":"host"`}, {sim.JoinWins, `"winner":"guest"`}, {sim.DrawGame, `"winner":"draw"`}, {sim.NoWinner, `"winner":"none"`}} {
		var log bytes.Buffer
		c := Config{Log: zerolog.New(&log)}
		c.ended(match.Outcome{Confirmed: 4321}, sim.Match{MatchWinner: tt.winner, Wins: [2]uint8{2, 1}})
		for _, want := range []string{tt.want, `"event":"match_end"`, `"rounds":[2,1]`, `"frames":4321`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is not in %s", want, log.String())
			}
		}
	}
}
