package training

import (
	"strings"

	"backstep/sim"
	"backstep/sim/bot"
)

// recording is a slot.
type recording struct {
	words  []uint16
	facing int8 // of the dummy when it began
}

// dummy makes the words of the fighter nobody holds.
type dummy struct {
	name string
	side int
	bot  bot.Bot
	slot *recording
	at   int // next frame of the slot
	flip bool
}

// newDummy makes a dummy; name is one of Dummies.
func newDummy(name string, side int, slot *recording, w *sim.World) dummy {
	d := dummy{name: name, side: side, slot: slot}
	if level, ok := strings.CutPrefix(name, "bot-"); ok {
		if b, err := bot.New(level, 1, side); err == nil {
			d.bot = b
		}
	}
	d.begin(w)
	return d
}

// begin starts the recording anew, mirrored if the dummy looks the other way.
func (d *dummy) begin(w *sim.World) {
	d.at = 0
	d.flip = d.slot.facing != 0 && d.slot.facing != w.Fighter(w.Point(d.side)).Facing
}

// next is the dummy's word for the frame after w; second is that of the second
// player at the keyboard.
func (d *dummy) next(w *sim.World, second uint16) uint16 {
	switch d.name {
	case "crouch":
		return sim.DownBit
	case "jump":
		return sim.UpBit
	case "guard", "guard-low":
		return d.guard(w)
	case "player2":
		return second
	case "play":
		return d.play(w)
	}
	if d.bot != nil {
		return d.bot.Next(w)
	}
	return 0
}

// guard holds back while something comes, so that the dummy does not walk
// away.
func (d *dummy) guard(w *sim.World) uint16 {
	word := uint16(0)
	if d.name == "guard-low" {
		word = sim.DownBit
	}
	me, other := w.Fighter(w.Point(d.side)), w.Fighter(w.Point(1-d.side))
	coming := other.Action == sim.Attack || me.Action == sim.Blockstun
	for _, p := range other.Shots {
		coming = coming || p.Life > 0
	}
	if !coming {
		return word
	}
	if me.Facing > 0 {
		return word | sim.LeftBit
	}
	return word | sim.RightBit
}

func (d *dummy) play(w *sim.World) uint16 {
	if len(d.slot.words) == 0 {
		return 0
	}
	if d.at >= len(d.slot.words) {
		d.begin(w)
	}
	word := d.slot.words[d.at]
	d.at++
	if d.flip {
		word = mirrored(word)
	}
	return word
}

// mirrored swaps left and right.
func mirrored(word uint16) uint16 {
	out := word &^ (sim.LeftBit | sim.RightBit)
	if word&sim.LeftBit != 0 {
		out |= sim.RightBit
	}
	if word&sim.RightBit != 0 {
		out |= sim.LeftBit
	}
	return out
}
