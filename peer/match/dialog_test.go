package match

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"backstep/peer/channel"
	"backstep/peer/dialog"
	"backstep/rollback"
)

// talkers gives both sides of a duel a dialog and keeps what they hear.
type talkers struct {
	d     [2]*dialog.Dialog
	heard [2][]dialog.Event
}

func (x *talkers) player(side int, net network) player {
	if x.d[side] == nil { // a dialog outlives the match
		x.d[side] = dialog.New(side == 0)
	}
	return player{net: net, config: func(c *Config) {
		c.Dialog = x.d[side]
		c.Observer.Said = func(e dialog.Event) {
			e.Body = slices.Clone(e.Body)
			x.heard[side] = append(x.heard[side], e)
			if e.Kind == dialog.Offered {
				x.d[side].Accept(e.Offer.ID)
			}
		}
	}}
}

func noise(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 5))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// CHAN-01, CHAN-07, CHAN-08: what the players say during a match and blobs in both directions arrive, and the match is the
// same tick for tick as without: no input waits for them.
func TestSayingsDelayNoInput(t *testing.T) {
	const frames = 900
	play := func(loud bool) (confirmed [2][]int64, o [2]Outcome, x talkers) {
		net := network{delay: 40_000}
		players := [2]player{x.player(0, net), x.player(1, net)}
		for side := range players {
			inner := players[side].config
			players[side].config = func(c *Config) {
				inner(c)
				said := 0
				c.Observer.Ticked = func(now int64, r rollback.Result) {
					confirmed[side] = append(confirmed[side], int64(r.Confirmed), int64(r.RollbackFrames), now)
					if !loud || r.Frame < 60 {
						return
					}
					if said == 0 {
						if _, err := x.d[side].Offer(dialog.Snapshot, noise(uint64(side), 64<<10), now); err != nil {
							t.Error(err)
						}
					}
					said++
					if said%6 == 0 && said < 600 {
						if _, err := x.d[side].Chat("well played"); err != nil {
							t.Error(err)
						}
						if err := x.d[side].Send(channel.MatchState, []byte{byte(dialog.TopicMode), byte(said)}); err != nil {
							t.Error(err)
						}
					}
				}
			}
		}
		d := newDuel(3, frames, players)
		if !d.run(60 * second) {
			t.Fatal("deadlock")
		}
		o[0], o[1] = d.outcomes()
		return confirmed, o, x
	}
	quiet, _, _ := play(false)
	loud, o, x := play(true)
	for side := range loud {
		if o[side].End != EndFrames || o[side].Malformed != 0 || o[side].Stats.Link.Packets.Refused != 0 {
			t.Errorf("side %d: %v (%v), %+v", side, o[side].End, o[side].Err, o[side].Stats.Link.Packets)
		}
		// The last ticks wait for the other's last words and may differ by one.
		n := min(len(quiet[side]), len(loud[side]))
		if n < 3*frames || !slices.Equal(quiet[side][:n], loud[side][:n]) {
			t.Errorf("side %d: the match ran differently", side)
		}
		var kinds [8]int
		for _, e := range x.heard[side] {
			kinds[e.Kind]++
			if e.Kind == dialog.Received && (e.Err != nil || !bytes.Equal(e.Body, noise(uint64(1-side), 64<<10))) {
				t.Errorf("side %d: %v", side, e.Err)
			}
		}
		if kinds[dialog.Received] != 1 || kinds[dialog.Sent] != 1 || kinds[dialog.Chat] < 90 || kinds[dialog.Message] < 90 {
			t.Errorf("side %d heard %v", side, kinds)
		}
		if !o[side].HasOpponent || o[side].Opponent.RTT < 60_000 || o[side].Opponent.RTT > 120_000 {
			t.Errorf("side %d: the other's stamp is %+v", side, o[side].Opponent)
		}
	}
	if o[0].FinalHash != o[1].FinalHash {
		t.Error("hashes differ")
	}
}

// What was not delivered when a match ends is delivered in the next one, also over a bad link.
func TestSayingsSurviveTheMatch(t *testing.T) {
	var x talkers
	net := network{delay: 60_000, jitter: 20_000, loss: 0.2, dup: 0.05}
	blob := noise(9, 100_000)
	for n := range 2 {
		d := newDuel(uint64(20+n), 120, [2]player{x.player(0, net), x.player(1, net)})
		for side := range d.start {
			d.next[side] += int64(n) * 60 * second // one clock
		}
		if n == 0 {
			for i := range byte(10) {
				if err := x.d[0].Send(channel.MatchState, []byte{byte(dialog.TopicMode), i}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := x.d[1].Offer(dialog.Replay, blob, 1); err != nil {
				t.Fatal(err)
			}
		}
		if !d.run(120 * second) {
			t.Fatal("deadlock")
		}
	}
	var topics []byte
	for _, e := range x.heard[1] {
		if e.Kind == dialog.Message && e.Channel == channel.MatchState {
			topics = append(topics, e.Body[1])
		}
	}
	if !bytes.Equal(topics, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("%v", topics)
	}
	got := 0
	for _, e := range x.heard[0] {
		if e.Kind == dialog.Received {
			got++
			if e.Err != nil || !bytes.Equal(e.Body, blob) {
				t.Errorf("%v", e.Err)
			}
		}
	}
	if got != 1 {
		t.Errorf("%d blobs", got)
	}
}
