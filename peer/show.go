package peer

import (
	"fmt"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/peer/match"
	"backstep/peer/page"
	"backstep/peer/present"
	"backstep/rollback"
	"backstep/sim"
	"backstep/sim/data"
)

// show puts a running match on the page: snapshots every tick, figures four
// times a second. It reads the session and never writes to it.
type show struct {
	page  *page.Server
	world present.World
	state present.State
	snap  page.Snapshot

	events    []sim.Event
	trail     []present.Trail
	netAt     int64
	netFrame  int32
	lastBytes rollback.Both
	deepest   int
	longest   int
	grade     string
	fec       fec.Mode
	paths     pathTeller
	offered   bool
}

const netInterval = 250_000 // µs

func newShow(p *page.Server) *show {
	return &show{page: p, events: make([]sim.Event, 0, 64), trail: make([]present.Trail, 0, present.TrailFrames)}
}

// begin shows another match.
func (s *show) begin(number int, kind page.Kind, side uint8) {
	s.world.Reset()
	s.snap = page.Snapshot{Match: uint16(number), Kind: kind, Side: side, Events: s.events[:0], Trail: s.trail[:0]}
	s.netAt, s.deepest, s.longest, s.offered, s.lastBytes = 0, 0, 0, false, rollback.Both{}
}

// ticked takes in what a tick did.
func (s *show) ticked(at int64, l *match.Loop, r *rollback.Result) {
	d := l.Driver()
	s.deepest, s.longest = max(s.deepest, r.RollbackFrames), max(s.longest, r.RollbackFrames)
	if r.Rollback != nil {
		for _, f := range r.Rollback.Replayed {
			s.submit(d, f)
		}
	}
	if r.Advanced {
		s.submit(d, r.Frame)
	}
	if text := overlayText(r); text != "" {
		s.world.ShowRecoveryOverlay(text)
	} else {
		s.world.ClearRecoveryOverlay()
	}
	s.world.Mark(r.RollbackFrames, r.Confirmed, r.Stalled)
	_, s.offered = d.Question()
	s.snap.Events = s.emitted(d, r.Emitted)
	s.snap.Cancelled = r.Cancelled
	s.flags(r)
	s.snap.Confirmed, s.snap.ClockMillis, s.snap.Seq = r.Confirmed, uint32(at/1000), s.page.Words().Seq()
	s.snap.Depth, s.snap.Resimulated = uint8(min(r.RollbackFrames, 255)), uint8(min(r.Resimulated, 255))
	s.send()
	if at >= s.netAt {
		s.netAt = at + netInterval
		s.net(l, r)
	}
}

func overlayText(r *rollback.Result) string {
	if r.Frozen {
		return rollback.Recovering.String()
	}
	if r.Status == rollback.Recovering {
		return r.Status.String()
	}
	return ""
}

func (s *show) submit(d *rollback.Driver[match.World, uint16], frame int32) {
	if w, ok := d.State(frame); ok {
		s.state.Take(w)
		s.world.SubmitSimSnapshot(&s.state)
	}
}

// emitted finds the events behind ids: they stand in the states they came
// with.
func (s *show) emitted(d *rollback.Driver[match.World, uint16], ids []uint64) []sim.Event {
	list := s.events[:0]
	for _, id := range ids {
		w, ok := d.State(int32(id >> 32))
		if !ok || len(list) == cap(list) {
			continue
		}
		for _, e := range w.Events() {
			if e.ID() == id {
				list = append(list, e)
				break
			}
		}
	}
	return list
}

func (s *show) flags(r *rollback.Result) {
	s.snap.Flags = 0
	for _, f := range [...]struct {
		set  bool
		flag page.Flags
	}{
		{r.Recovered, page.Rewound}, {s.world.RecoveryOverlay() != "", page.Overlay}, {r.Stalled, page.Stalled},
		{r.Frozen, page.FrozenFlag}, {s.offered, page.Offered},
	} {
		if f.set {
			s.snap.Flags |= f.flag
		}
	}
}

// send hands the two newest snapshots to the page, if there is one yet.
func (s *show) send() {
	previous, current, pair := s.world.Snapshots()
	if current.Count == 0 {
		return
	}
	s.snap.Previous, s.snap.Current = previous, current
	s.snap.Flags &^= page.Pair
	if pair {
		s.snap.Flags |= page.Pair
	}
	s.snap.Trail = s.world.AppendTrail(s.trail[:0])
	s.page.Snapshot(&s.snap)
}

func (s *show) net(l *match.Loop, r *rollback.Result) {
	d := l.Driver()
	link := d.Link(otherPlayer(d))
	st := link.Stats()
	session := d.Session()
	rtt, jitter := link.RoundTrip()
	n := page.Net{
		Frame: r.Frame, Ping: millis(rtt), Jitter: millis(jitter), Loss: float64(st.LossMillionths) / 10_000,
		Delay: session.InputDelay(), Rollback: s.deepest, RollbackMax: s.longest, Stalls: session.Stats().Stalls, Path: s.paths.Path().String(),
		Advantage: session.Advantage(), FEC: s.fec.String(), Parity: st.Parity, Recovered: st.Recovered, Second: st.Second,
		Grade: s.grade, Mode: session.Mode().String(), Status: r.Status.String(),
	}
	if p := s.paths.Path(); p != natpunch.KindLAN && p != natpunch.KindDirect {
		n.Why = s.paths.Reason()
	}
	sync := d.Stats().Sync
	n.Offset = sync.Offset.MeanMilli() / 1000
	if frames := int64(r.Frame - s.netFrame); frames > 0 {
		n.Up = (st.Bytes.Sent - s.lastBytes.Sent) * sim.SimulationHz / frames
		n.Down = (st.Bytes.Received - s.lastBytes.Received) * sim.SimulationHz / frames
	}
	s.netFrame, s.lastBytes = r.Frame, st.Bytes
	o := l.Outcome()
	if o.TickTime.Count() > 0 {
		n.Tick.P50, n.Tick.P99 = o.TickTime.Quantile(500), o.TickTime.Quantile(990)
	}
	if s, ok := l.Opponent(); ok {
		n.They = &page.TheirNet{Ping: millis(s.RTT), Jitter: millis(s.Jitter), Loss: float64(s.Loss) / 10_000, Stalls: s.Stalls}
	}
	n.Line = fmt.Sprintf("ping %d±%d · delay %d · rb %d (max %d) · loss %.1f %% · %s", rtt/1000, jitter/1000, n.Delay, s.deepest, s.longest, n.Loss, n.Path)
	s.deepest = 0
	s.page.Net(&n)
}

func millis(micros int64) float64 { return float64(micros) / 1000 }

// picture shows a world that no match loop drives: training room and theatre.
type picture struct {
	*show
	boxes   []page.Box
	scratch []data.Shape
	withBox bool
}

func newPicture(p *page.Server) *picture {
	return &picture{show: newShow(p), boxes: make([]page.Box, 0, 48)}
}

// take submits a state.
func (p *picture) take(w *sim.World) {
	p.state.Take(w)
	p.world.SubmitSimSnapshot(&p.state)
}

// put shows what was taken. Events are those of w, if there are to be any.
func (p *picture) put(w *sim.World, flags page.Flags, events []sim.Event, cancelled []uint64) {
	p.snap.Flags, p.snap.Events, p.snap.Cancelled = flags, events, cancelled
	p.snap.ClockMillis, p.snap.Seq = uint32(now()/1000), p.page.Words().Seq()
	p.snap.Boxes = p.boxes[:0]
	if p.withBox {
		for slot := range w.Fighters() {
			p.fighterBoxes(w, slot)
		}
	}
	p.send()
}

func (p *picture) fighterBoxes(w *sim.World, slot int) {
	var hurt int
	p.scratch, hurt = w.Shapes(slot, p.scratch[:0])
	for i, b := range p.scratch {
		kind := uint8(0)
		if i >= hurt {
			kind = 1
		}
		p.snap.Boxes = append(p.snap.Boxes, page.Box{Slot: uint8(slot), Kind: kind, Shape: b})
	}
	f := w.Fighter(slot)
	k := data.Embedded().Fighter(f.ID)
	for _, s := range f.Shots {
		if s.Life == 0 || k == nil || k.Move(s.Move) == nil {
			continue
		}
		shot := k.Move(s.Move).Shot
		p.snap.Boxes = append(p.snap.Boxes, page.Box{Slot: uint8(slot), Kind: 2, Shape: data.Shape{Box: data.Box{X: s.X, Y: s.Y, HW: shot.HW, HH: shot.HH}}})
	}
}
