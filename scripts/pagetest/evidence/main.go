// Command evidence puts the evidence of a desync into a player's directory, as
// the two peers of a match would, for the tests and pictures of the page: two
// machines play 15 s, then the guest's fighter is given a push that nobody made.
//
//	go run ./scripts/pagetest/evidence DIR
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"backstep/peer/archive"
	"backstep/peer/match"
	"backstep/rollback/desync"
	"backstep/sim"
	"backstep/sim/bot"
)

const frames = 900

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: evidence DIR")
	}
	e, err := planted()
	if err != nil {
		return err
	}
	a, err := archive.Open(args[0])
	if err != nil {
		return err
	}
	_, err = a.SaveDesync(desync.AppendEvidence(nil, e), time.Now(), e.Code())
	return err
}

// planted is what both sides of such a match know of it.
func planted() (*desync.Evidence, error) {
	c := sim.DefaultConfig()
	w := new(match.World)
	if err := w.Reset(c); err != nil {
		return nil, err
	}
	e := &desync.Evidence{Host: true, Builds: [2]string{"v1", "v1"}, Words: make([][]uint32, 2)}
	e.Game = binary.LittleEndian.AppendUint64(sim.AppendConfig(nil, w.Config()), sim.DataHash())
	var bots [2]bot.Bot
	for side := range bots {
		var err error
		if bots[side], err = bot.New("hard", uint64(side)+3, side); err != nil {
			return nil, err
		}
	}
	var in [2]sim.Input
	for f := range int32(frames) {
		for side := range in {
			in[side] = sim.Input{Now: bots[side].Next(w), Prev: in[side].Now}
			e.Words[side] = append(e.Words[side], uint32(in[side].Now))
		}
		e.Before = w.AppendState(nil)
		w.Step(in[:], sim.TelemetryOnly)
		e.Frame, e.Agreed = f, f-1
	}
	guest := new(match.World)
	if err := guest.ParseState(e.Before); err != nil {
		return nil, err
	}
	in[1].Now ^= sim.RightBit | sim.HeavyBit
	guest.Step(in[:], sim.TelemetryOnly)
	for i, side := range [...]*match.World{w, guest} {
		e.States[i], e.Hashes[i] = side.AppendState(nil), side.Hash()
	}
	return e, nil
}
