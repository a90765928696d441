package peer

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"backstep/natpunch/rendezvous"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/rollback/desync"
	"backstep/sim"
)

// The pictures of a desync, in the order in which the page offers them.
const (
	exhibitBefore = "before" // the last state both sides agreed on
	exhibitHere   = "here"   // the frame after it, computed on this machine
	exhibitHost   = "host"   // the states the two sides had
	exhibitGuest  = "guest"
)

const (
	shownDifferences = 24 // values that differ, by name
	shownWords       = 60 // frames of inputs up to the differing one
)

// exhibits are the states of a desync that can be shown.
type exhibits struct {
	evidence *desync.Evidence
	order    []string
	states   map[string]*sim.World
	screen   page.Desync
}

// openEvidence reads a file. The error is one sentence.
func openEvidence(raw []byte) (*exhibits, error) {
	e, err := desync.ParseEvidence(raw)
	if err != nil {
		return nil, fmt.Errorf("the file is no evidence of a desync that this version can read: %w", err)
	}
	if n := len(e.Game) - 8; n < 0 || binary.LittleEndian.Uint64(e.Game[n:]) != sim.DataHash() {
		return nil, fmt.Errorf("the desync happened with another version of the game, which alone can show it")
	}
	x := &exhibits{evidence: e, states: map[string]*sim.World{}}
	x.add(exhibitBefore, e.Before)
	if w := again(e); w != nil {
		x.states[exhibitHere], x.order = w, append(x.order, exhibitHere)
	}
	x.add(exhibitHost, e.States[0])
	x.add(exhibitGuest, e.States[1])
	if len(x.order) == 0 {
		return nil, fmt.Errorf("the file holds no state of the match that can be shown; peer replay show prints what it has")
	}
	x.describe()
	return x, nil
}

func (x *exhibits) add(name string, state []byte) {
	w := new(sim.World)
	if len(state) > 0 && w.ParseState(state) == nil {
		x.states[name], x.order = w, append(x.order, name)
	}
}

// describe fills in what does not change while the desync is looked at.
func (x *exhibits) describe() {
	e := x.evidence
	c := x.states[x.order[0]].Config()
	s := page.Desync{Code: e.Code(), Wrote: exhibitGuest, Frame: int(e.Frame), Agreed: int(e.Agreed), Ranked: e.Ranked, Verdict: Judge(e).String(),
		Exhibits: x.order, Shown: x.order[len(x.order)-1], Ruleset: c.Ruleset.String(), Format: c.Format.String(), Differences: []page.Difference{}}
	if e.Host {
		s.Wrote = exhibitHost
	}
	for i := range s.Builds {
		s.Builds[i], s.Hashes[i] = rendezvous.CleanText(e.Builds[i]), fmt.Sprintf("%016x", e.Hashes[i])
	}
	for side := range s.Teams {
		s.Teams[side] = teamNames(c.Teams[side])
	}
	for _, r := range e.Ranges(shownRanges) {
		s.Ranges = append(s.Ranges, [2]int{r.Offset, r.Length})
	}
	if host, guest := x.states[exhibitHost], x.states[exhibitGuest]; host != nil && guest != nil {
		s.Differences = differences(host, guest)
	}
	for p := range s.Words {
		s.Words[p] = []uint16{}
		if p >= len(e.Words) {
			continue
		}
		for _, word := range e.Words[p][max(0, len(e.Words[p])-shownWords):] {
			s.Words[p] = append(s.Words[p], uint16(word))
		}
	}
	x.screen = s
}

// differences names the values of the match and the fighters that are not the
// same in two states.
func differences(a, b *sim.World) []page.Difference {
	out := []page.Difference{}
	ma, mb := a.Match(), b.Match()
	out = compareValues(out, "match", reflect.ValueOf(&ma).Elem(), reflect.ValueOf(&mb).Elem())
	for slot := range min(a.Fighters(), b.Fighters()) {
		fa, fb := a.Fighter(slot), b.Fighter(slot)
		out = compareValues(out, fmt.Sprintf("fighter %d", slot), reflect.ValueOf(&fa).Elem(), reflect.ValueOf(&fb).Elem())
	}
	return out
}

func compareValues(out []page.Difference, name string, a, b reflect.Value) []page.Difference {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			out = compareValues(out, name+" "+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Array:
		for i := range a.Len() {
			out = compareValues(out, fmt.Sprintf("%s %d", name, i), a.Index(i), b.Index(i))
		}
	default:
		if x, y := plainValue(a), plainValue(b); x != y && len(out) < shownDifferences {
			out = append(out, page.Difference{Name: name, Host: x, Guest: y})
		}
	}
	return out
}

func plainValue(v reflect.Value) string {
	switch {
	case v.CanInt():
		return fmt.Sprint(v.Int())
	case v.CanUint():
		return fmt.Sprint(v.Uint())
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(v.Bool())
	}
	return ""
}

// again steps the differing frame of an exact desync on this machine; nil if
// something for that is missing.
func again(e *desync.Evidence) *match.World {
	k := int(e.Frame - e.First)
	if !e.Exact() || len(e.Words) != 2 || k < 0 || k >= len(e.Words[0]) || k >= len(e.Words[1]) || k == 0 && e.Frame > 0 {
		return nil
	}
	w := new(match.World)
	if w.ParseState(e.Before) != nil {
		return nil
	}
	var in [2]sim.Input
	for p := range in {
		in[p].Now = uint16(e.Words[p][k])
		if k > 0 {
			in[p].Prev = uint16(e.Words[p][k-1])
		}
	}
	w.Step(in[:], sim.TelemetryOnly)
	return w
}

// desync shows the evidence of a desync until the player goes back to the list.
func (a *app) desync(ctx context.Context, id string, raw []byte) error {
	x, err := openEvidence(raw)
	if err != nil {
		a.page.Notice("warn", sentence(err.Error()))
		return nil
	}
	a.matches++
	x.screen.ID = id
	p := newPicture(a.page)
	p.begin(a.matches, page.KindTheatre, page.NoSide)
	show := func() {
		w := x.states[x.screen.Shown]
		p.world.Reset()
		p.take(w)
		p.withBox, p.snap.Confirmed = x.screen.Boxes, w.Frame()
		p.put(w, page.Paused|page.Quiet, nil, nil)
		s := x.screen
		a.page.Show(&page.Screen{Desync: &s})
	}
	show()
	for {
		cmd, ok, err := a.next(ctx, now()+look.Microseconds())
		switch {
		case err != nil:
			return err
		case !ok:
			if a.idle(idlePatience) {
				return errIdle
			}
			continue
		}
		if done, err := a.leaves(ctx, cmd); done {
			return err
		}
		if cmd.Cmd == "theatre" {
			if x.states[cmd.Exhibit] != nil {
				x.screen.Shown = cmd.Exhibit
			}
			if cmd.Boxes != nil {
				x.screen.Boxes = *cmd.Boxes
			}
			if cmd.Export != nil && *cmd.Export {
				a.page.File("backstep-desync-"+x.screen.Code+".bsd", raw)
			}
			show()
		}
	}
}
