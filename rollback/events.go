package rollback

import "slices"

const (
	// eventRing holds the events of every frame that can still be stepped again.
	eventRing = 256
	// eventsPerTick bounds what one tick reports.
	eventsPerTick = 512
)

// eventLog knows which cosmetic events were shown, by frame, and what a correction changes about them. Its zero value
// is the log of a game without events.
type eventLog struct {
	shown     []frameEvents
	buf       []uint64
	emitted   []uint64
	cancelled []uint64
	dropped   int64
}

type frameEvents struct {
	n   int
	ids [MaxEvents]uint64
}

func newEventLog() eventLog {
	return eventLog{
		shown:     make([]frameEvents, eventRing),
		buf:       make([]uint64, 0, MaxEvents),
		emitted:   make([]uint64, 0, eventsPerTick),
		cancelled: make([]uint64, 0, eventsPerTick),
	}
}

func (l *eventLog) begin() { l.emitted, l.cancelled = l.emitted[:0], l.cancelled[:0] }

// scratch is where a game appends the ids of one frame.
func (l *eventLog) scratch() []uint64 { return l.buf[:0] }

// first records the events of a frame that is stepped for the first time. All of them happen now.
func (l *eventLog) first(frame int32, ids []uint64) {
	for _, id := range l.record(frame, ids) {
		l.emit(id)
	}
}

// again records the events of a frame that was stepped again: what is new happens now, what is gone is taken back.
// An event that moved to another frame does neither.
func (l *eventLog) again(frame int32, ids []uint64) {
	e := &l.shown[frame%eventRing]
	old := *e
	now := l.record(frame, ids)
	for _, id := range now {
		if !slices.Contains(old.ids[:old.n], id) {
			l.emit(id)
		}
	}
	for _, id := range old.ids[:old.n] {
		if !slices.Contains(now, id) {
			l.cancel(id)
		}
	}
}

func (l *eventLog) record(frame int32, ids []uint64) []uint64 {
	e := &l.shown[frame%eventRing]
	e.n = copy(e.ids[:], ids)
	l.dropped += int64(len(ids) - e.n)
	return e.ids[:e.n]
}

func (l *eventLog) emit(id uint64) { move(id, &l.cancelled, &l.emitted, &l.dropped) }

func (l *eventLog) cancel(id uint64) { move(id, &l.emitted, &l.cancelled, &l.dropped) }

// move adds id to to, or takes it out of from if it is there: then nothing changed about it.
func move(id uint64, from, to *[]uint64, dropped *int64) {
	if i := slices.Index(*from, id); i >= 0 {
		*from = slices.Delete(*from, i, i+1)
		return
	}
	if len(*to) == cap(*to) {
		*dropped++
		return
	}
	*to = append(*to, id)
}
