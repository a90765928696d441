package peer

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"backstep/natpunch/rendezvous"
	"backstep/peer/archive"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/theatre"
	"backstep/sim"
)

// replays is the list of replays, and the theatre; upload is a file the player
// opened, nil for none.
func (a *app) replays(ctx context.Context, upload []byte) error {
	if upload != nil {
		if err := a.watch(ctx, "", upload); err != nil {
			return err
		}
	}
	for {
		list, err := a.list()
		if err != nil {
			return fail(exitInternal, match.EndError, err, "the replays cannot be listed: %v", err)
		}
		a.page.Show(&page.Screen{Replays: list})
		for again := false; !again; {
			cmd, ok, err := a.next(ctx, now()+look.Microseconds())
			if err != nil {
				return err
			}
			if !ok {
				if a.idle(idlePatience) {
					return errIdle
				}
				continue
			}
			if again, err = a.replayCommand(ctx, cmd); err != nil {
				return err
			}
		}
	}
}

func (a *app) replayCommand(ctx context.Context, cmd page.Command) (again bool, err error) {
	switch cmd.Cmd {
	case "title", "cancel", "leave":
		return false, errCancelled
	case "quit":
		return false, errIdle
	case "replays":
		return true, nil
	case page.CommandUpload:
		return true, a.watch(ctx, "", cmd.Upload)
	case "open":
		b, err := a.archive.Load(cmd.ID)
		if err != nil {
			a.page.Notice("warn", sentence(err.Error()))
			return false, nil
		}
		return true, a.watch(ctx, cmd.ID, b)
	case "export":
		a.export(cmd.ID)
	case "delete":
		if err := a.archive.Delete(cmd.ID); err != nil {
			a.page.Notice("warn", sentence(err.Error()))
		}
		return true, nil
	}
	return false, nil
}

func (a *app) export(id string) {
	b, err := a.archive.Load(id)
	if err != nil {
		a.page.Notice("warn", sentence(err.Error()))
		return
	}
	name := "backstep-" + id + ".bsr"
	if isEvidence(b) {
		name = "backstep-desync-" + id + ".bsd"
	}
	a.page.File(name, b)
}

func (a *app) list() (*page.Replays, error) {
	entries, err := a.archive.List()
	if err != nil {
		return nil, err
	}
	out := &page.Replays{List: make([]page.ReplayEntry, 0, len(entries)), Desyncs: []page.DesyncEntry{}}
	desyncs, err := a.archive.Desyncs()
	if err != nil {
		return nil, err
	}
	for _, d := range desyncs {
		out.Desyncs = append(out.Desyncs, page.DesyncEntry{ID: d.ID, When: d.When.Format(time.RFC3339), Code: d.Code})
	}
	for _, e := range entries {
		out.List = append(out.List, replayEntry(e))
	}
	return out, nil
}

func replayEntry(e archive.Entry) page.ReplayEntry {
	p := page.ReplayEntry{ID: e.ID, When: e.When.Format(time.RFC3339), Frames: e.Frames, Teams: [2][]string{{}, {}}}
	if e.Replay != nil {
		p.Build, p.Ruleset, p.Format = rendezvous.CleanText(e.Replay.Build), e.Replay.Config.Ruleset.String(), e.Replay.Config.Format.String()
		for side := range p.Teams {
			p.Teams[side] = teamNames(e.Replay.Config.Teams[side])
		}
	}
	if e.Err != nil {
		p.Sentence = sentence(e.Err.Error())
	}
	return p
}

// viewer is the theatre with the page around it.
type viewer struct {
	app      *app
	id       string
	raw      []byte
	theatre  *theatre.Theatre
	picture  *picture
	playing  bool
	speed    float64
	verified string
	sentence string
	shown    string
}

// watch shows a replay until the player goes back to the list. A file that
// cannot be played is a notice, not an error.
func (a *app) watch(ctx context.Context, id string, raw []byte) error {
	if isEvidence(raw) {
		return a.desync(ctx, id, raw)
	}
	t, err := theatre.Open(raw)
	if err != nil {
		a.page.Notice("warn", "This replay cannot be played: "+err.Error())
		return nil
	}
	a.matches++
	v := &viewer{app: a, id: id, raw: raw, theatre: t, picture: newPicture(a.page), playing: true, speed: 1, verified: "no"}
	v.picture.begin(a.matches, page.KindTheatre, page.NoSide)
	v.seek(0)
	return v.run(ctx)
}

func (v *viewer) run(ctx context.Context) error {
	due, showAt := float64(now()), int64(0)
	for {
		at := now()
		if at >= showAt {
			showAt = at + refresh
			v.show()
			if v.app.idle(idlePatience) {
				return errIdle
			}
		}
		for n := 0; v.playing && float64(at) >= due && n < 16; n++ {
			due += 1e6 / sim.SimulationHz / v.speed
			v.advance()
		}
		if float64(at) >= due {
			due = float64(at) + 1e6/sim.SimulationHz
		}
		cmd, ok, err := v.app.next(ctx, min(int64(math.Ceil(due)), at+refresh))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if done, err := v.app.leaves(ctx, cmd); done {
			return err
		}
		if cmd.Cmd == "theatre" {
			v.command(cmd)
			due, showAt = float64(now()), 0
		}
	}
}

// leaves follows a command that ends the screen of a replay or of evidence, and
// reports whether it was one.
func (a *app) leaves(ctx context.Context, cmd page.Command) (done bool, err error) {
	switch cmd.Cmd {
	case "replays", "cancel", "leave":
		return true, nil
	case "title":
		return true, errCancelled
	case "quit":
		return true, errIdle
	case page.CommandUpload:
		return true, a.watch(ctx, "", cmd.Upload)
	}
	return false, nil
}

// advance plays one frame.
func (v *viewer) advance() {
	if !v.theatre.Step() {
		v.playing = false
		return
	}
	w := v.theatre.World()
	v.picture.take(w)
	v.put(0, w.Events())
}

func (v *viewer) put(f page.Flags, events []sim.Event) {
	if !v.playing {
		f |= page.Paused
	}
	v.picture.snap.Confirmed = v.theatre.World().Frame()
	v.picture.put(v.theatre.World(), f, events, nil)
}

// seek jumps; the state before is submitted too, so that there is no jerk when
// it plays on.
func (v *viewer) seek(frame int) {
	v.theatre.Seek(frame)
	v.picture.take(v.theatre.World())
	v.put(page.Quiet, nil)
}

func (v *viewer) command(cmd page.Command) {
	if cmd.Boxes != nil {
		v.picture.withBox = *cmd.Boxes
	}
	if cmd.Speed != nil && *cmd.Speed >= 0.1 && *cmd.Speed <= 8 {
		v.speed = *cmd.Speed
	}
	if cmd.Play != nil {
		if *cmd.Play && v.theatre.Frame() == v.theatre.Frames()-1 {
			v.seek(0)
		}
		v.playing = *cmd.Play
	}
	switch {
	case cmd.Seek != nil:
		v.seek(*cmd.Seek)
	case cmd.Step != nil && *cmd.Step == 1:
		v.playing = false
		v.advance()
	case cmd.Step != nil:
		v.playing = false
		v.seek(v.theatre.Frame() + max(-v.theatre.Frames(), min(*cmd.Step, v.theatre.Frames())))
	case cmd.Boxes != nil || cmd.Play != nil:
		v.put(page.Quiet, nil)
	}
	if cmd.Verify != nil && *cmd.Verify {
		v.verify()
	}
	if cmd.Export != nil && *cmd.Export {
		name := v.id
		if name == "" {
			name = "opened"
		}
		v.app.page.File("backstep-"+name+".bsr", v.raw)
	}
}

func (v *viewer) verify() {
	err := v.theatre.Verify()
	v.verified, v.sentence = "yes", "Every stored hash came out again."
	if err != nil {
		v.verified, v.sentence = "failed", sentence(err.Error())
	}
}

func (v *viewer) show() {
	rep := v.theatre.Replay()
	s := &page.Theatre{ID: v.id, Frame: v.theatre.Frame(), Frames: v.theatre.Frames(), Playing: v.playing, Speed: v.speed,
		Boxes: v.picture.withBox, Verified: v.verified, Sentence: v.sentence, Marks: v.theatre.Marks()}
	if s.Marks == nil {
		s.Marks = []int{}
	}
	s.Ruleset, s.Format, s.Rounds = rep.Config.Ruleset.String(), rep.Config.Format.String(), int(rep.Config.Rounds)
	s.Music = teamMusic(rep.Config.Teams)
	for side := range s.Teams {
		s.Teams[side] = teamNames(rep.Config.Teams[side])
	}
	if b, err := json.Marshal(s); err == nil && string(b) != v.shown {
		v.shown = string(b)
		v.app.page.Show(&page.Screen{Theatre: s})
	}
}
