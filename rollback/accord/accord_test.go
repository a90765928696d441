package accord

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"backstep/rollback/quality"
)

var start = Terms{quality.Rollback, 8}

// room is a match of parties that step frames up to slack frames apart, over messages that may be lost, doubled and held
// up. log[i] is what party i ran each frame under.
type room struct {
	rng     *rand.Rand
	parties []*Party
	log     [][]Terms
	mail    []letter
	now     int64
	loss    int // per cent
	slack   int
	answers func(i int) (accept, now bool)
	events  [][]Event
	held    int
}

type letter struct {
	at       int64
	from, to int
	body     []byte
}

func newRoom(seed uint64, players, loss, slack int) *room {
	r := &room{rng: rand.New(rand.NewPCG(seed, 0)), loss: loss, slack: slack, log: make([][]Terms, players), events: make([][]Event, players)}
	for i := range players {
		p := New(i, players, start)
		p.SetLimit(MaxWindow)
		r.parties = append(r.parties, &p)
	}
	r.answers = func(int) (bool, bool) { return true, true }
	return r
}

// tick is a 60th of a second of everybody.
func (r *room) tick(t interface{ Fatalf(string, ...any) }) {
	r.now += 16_667
	for n := len(r.mail); n > 0; n-- {
		m := r.mail[0]
		r.mail = r.mail[1:]
		if m.at > r.now {
			r.mail = append(r.mail, m)
			continue
		}
		if err := r.parties[m.to].Receive(m.from, m.body, int32(len(r.log[m.to]))-1); err != nil {
			t.Fatalf("%v: %v from %d to %d", err, m.body, m.from, m.to)
		}
	}
	slowest := len(r.log[0])
	for _, l := range r.log {
		slowest = min(slowest, len(l))
	}
	for i, p := range r.parties {
		if _, ok := p.Asked(); ok {
			if accept, now := r.answers(i); now {
				p.Answer(accept)
			}
		}
		newest := int32(len(r.log[i])) - 1
		before := p.Terms()
		terms, changed := p.Step(r.now, newest, 6)
		if changed && terms != p.Terms() || !changed && before != p.Terms() {
			t.Fatalf("party %d says %v %v, runs under %v", i, terms, changed, p.Terms())
		}
		if e, ok := p.Event(); ok {
			r.events[i] = append(r.events[i], e)
		}
		switch {
		case p.Hold(newest + 1):
			r.held++
		case len(r.log[i]) < slowest+r.slack && r.rng.IntN(10) > 0:
			r.log[i] = append(r.log[i], p.Terms())
		}
		for j := range r.parties {
			if b := p.AppendMessage(nil, j, r.now); len(b) > 0 && r.rng.IntN(100) >= r.loss {
				m := letter{r.now + 20_000 + r.rng.Int64N(60_000), i, j, b}
				r.mail = append(r.mail, m)
				if r.rng.IntN(5) == 0 {
					m.at += r.rng.Int64N(400_000)
					r.mail = append(r.mail, m)
				}
			}
		}
	}
}

// agree fails unless all ran every frame under the same terms.
func (r *room) agree(t interface{ Fatalf(string, ...any) }) {
	for i, l := range r.log[1:] {
		for f := range min(len(l), len(r.log[0])) {
			if l[f] != r.log[0][f] {
				t.Fatalf("frame %d: %v on player 0, %v on player %d", f, r.log[0][f], l[f], i+1)
			}
		}
	}
}

// X-28, QUAL-13, S-01: whatever is asked for by whom, under loss, repetition and reordering of the messages, all sides run
// every frame under the same terms, every wish is dealt with, nobody holds for ever, and all fall silent.
func TestAllSidesChangeAtOneFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		players := rapid.IntRange(2, MaxPlayers).Draw(t, "players")
		r := newRoom(rapid.Uint64().Draw(t, "seed"), players, rapid.IntRange(0, 70).Draw(t, "loss"), rapid.IntRange(1, 40).Draw(t, "slack"))
		refuses := rapid.IntRange(0, 3).Draw(t, "one in so many refuses")
		r.answers = func(int) (bool, bool) { return refuses == 0 || r.rng.IntN(refuses+1) > 0, r.rng.IntN(4) == 0 }
		asked := make([]int, players)
		for range rapid.IntRange(100, 600).Draw(t, "ticks") {
			if r.rng.IntN(20) == 0 {
				who := r.rng.IntN(players)
				p := r.parties[who]
				if r.rng.IntN(3) == 0 {
					p.SetLimit(1 + r.rng.IntN(MaxWindow))
				}
				if p.Ask(Terms{quality.Mode(r.rng.IntN(3)), uint8(1 + r.rng.IntN(MaxWindow))}) {
					asked[who]++
				}
			}
			r.tick(t)
		}
		r.loss = min(r.loss, 30)
		quiet := 0
		for n := 0; quiet < 120; n++ {
			if n > 20_000 {
				t.Fatalf("not settled: %+v", r.parties)
			}
			r.tick(t)
			quiet++
			for _, p := range r.parties {
				if p.Asking() || p.Open() {
					quiet = 0
				}
			}
			if len(r.mail) > 0 {
				quiet = 0
			}
		}
		r.agree(t)
		for i, l := range r.log {
			if len(l) < 100 {
				t.Fatalf("player %d came to frame %d", i, len(l))
			}
		}
		for i, e := range r.events {
			if len(e) != len(r.events[0]) {
				t.Fatalf("player %d saw %d changes end, player 0 %d", i, len(e), len(r.events[0]))
			}
			for k := range e {
				if e[k] != r.events[0][k] {
					t.Fatalf("change %d: %+v on player 0, %+v on player %d", k, r.events[0][k], e[k], i)
				}
			}
		}
		total := 0
		for _, n := range asked {
			total += n
		}
		if total != len(r.events[0]) {
			t.Fatalf("%d wishes, %d dealt with", total, len(r.events[0]))
		}
	})
}

// until runs a room until the first event.
func (r *room) until(t *testing.T) Event {
	t.Helper()
	for range 3000 {
		r.tick(t)
		if all := func() bool {
			for _, e := range r.events {
				if len(e) == 0 {
					return false
				}
			}
			return true
		}(); all {
			r.agree(t)
			return r.events[0][0]
		}
	}
	t.Fatal("nothing came of it")
	return Event{}
}

func TestWhatBecomesOfAWish(t *testing.T) {
	for _, c := range []struct {
		name   string
		asker  int
		want   Terms
		answer func(i int) (bool, bool)
		limit  int
		event  Event // its frame aside
	}{
		{"QUAL-13: accepted by both sides, delay mode runs", 1, Terms{quality.Delay, 8}, nil, MaxWindow, Event{Changed: true, Terms: Terms{quality.Delay, 8}}},
		{"the host asks", 0, Terms{quality.Hybrid, 8}, nil, MaxWindow, Event{Changed: true, Terms: Terms{quality.Hybrid, 8}}},
		{"QUAL-08: the other player says no", 0, Terms{quality.Delay, 8}, func(int) (bool, bool) { return false, true }, MaxWindow, Event{Terms: Terms{quality.Delay, 8}, Reason: Refused}},
		{"the other player says nothing", 1, Terms{quality.Delay, 8}, func(int) (bool, bool) { return false, false }, MaxWindow, Event{Terms: Terms{quality.Delay, 8}, Reason: NoAnswer}},
		{"a deeper window asks nobody", 1, Terms{quality.Rollback, 14}, func(int) (bool, bool) { panic("asked") }, MaxWindow, Event{Changed: true, Terms: Terms{quality.Rollback, 14}}},
		{"as deep as the other side affords", 1, Terms{quality.Rollback, 20}, nil, 11, Event{Changed: true, Terms: Terms{quality.Rollback, 11}}},
		{"what is in force", 1, start, nil, MaxWindow, Event{Terms: start, Reason: NoChange}},
		{"beyond what is afforded", 1, Terms{quality.Rollback, 20}, nil, 8, Event{Terms: Terms{quality.Rollback, 20}, Reason: NoChange}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(1, 2, 20, 12)
			if c.answer != nil {
				r.answers = c.answer
			}
			r.parties[1-c.asker].SetLimit(c.limit)
			for range 30 {
				r.tick(t)
			}
			if !r.parties[c.asker].Ask(c.want) || r.parties[c.asker].Ask(c.want) {
				t.Fatal("a wish is taken once")
			}
			e := r.until(t)
			if e.Changed && r.log[0][e.Frame] != c.event.Terms || e.Changed && r.log[0][e.Frame-1] != start {
				t.Errorf("frame %d before %v, then %v", e.Frame, r.log[0][e.Frame-1], r.log[0][e.Frame])
			}
			e.Frame = 0
			if e != c.event {
				t.Errorf("%+v, want %+v", e, c.event)
			}
		})
	}
}

// On a link without loss a change holds nobody up, and without wishes nothing is ever sent.
func TestChangesCostNothing(t *testing.T) {
	r := newRoom(3, 2, 0, 8)
	for range 300 {
		r.tick(t)
	}
	if len(r.mail) != 0 || r.parties[0].peers[1].revision != 1 || r.parties[1].peers[0].revision != 1 {
		t.Errorf("the limits were to be told once: %+v", r.parties[0].peers[1])
	}
	r.parties[1].Ask(Terms{quality.Delay, 8})
	r.until(t)
	if r.held != 0 {
		t.Errorf("%d ticks held", r.held)
	}
	var b [MaxMessage]byte
	if n := testing.AllocsPerRun(200, func() {
		r.parties[0].SetLimit(8 + int(r.parties[0].limit+1)%2)
		r.parties[0].Step(r.now, 500, 6)
		if len(r.parties[0].AppendMessage(b[:0], 1, r.now)) == 0 {
			t.Fatal("no message")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// QUAL-11, QUAL-12: each side learns where the other's own offer stands.
func TestOffersAreTold(t *testing.T) {
	r := newRoom(4, 2, 40, 8)
	r.parties[0].SetOffer(quality.Offered)
	r.parties[1].SetOffer(quality.Declined)
	for range 200 {
		r.tick(t)
	}
	if r.parties[1].Offer(0) != quality.Offered || r.parties[0].Offer(1) != quality.Declined {
		t.Errorf("told %d and %d", r.parties[1].Offer(0), r.parties[0].Offer(1))
	}
}

// A host that commits what this side was not ready for, or takes back a commit, is refused.
func TestImpossibleHosts(t *testing.T) {
	p := New(1, 2, start)
	h := head{revision: 1, limit: 8}
	say := func(s hostState, newest int32) error {
		err := p.Receive(0, appendHost(nil, h, s), newest)
		h.revision++
		return err
	}
	s := hostState{serial: 1, stage: Commit, attempt: 1, terms: Terms{quality.Delay, 8}, frame: 50}
	if say(s, 10) == nil {
		t.Error("a commit out of nothing")
	}
	s.stage, s.attempt = Poll, 0
	if err := say(s, 10); err != nil {
		t.Fatal(err)
	}
	p.Answer(true)
	s.stage, s.attempt = Propose, 1
	if err := say(s, 49); err != nil {
		t.Fatal(err)
	}
	if !p.Hold(50) || p.Hold(49) {
		t.Error("holds at another frame")
	}
	other := s
	other.stage, other.frame = Commit, 60
	if say(other, 49) == nil {
		t.Error("a commit of another frame")
	}
	other = s
	other.frame = 70
	if say(other, 49) == nil {
		t.Error("an attempt with two frames")
	}
	s.stage = Commit
	if err := say(s, 49); err != nil {
		t.Fatal(err)
	}
	other.stage, other.serial = Poll, 2
	if say(other, 49) == nil {
		t.Error("the next change before this one is in force")
	}
	if terms, changed := p.Step(0, 49, 0); !changed || terms != s.terms {
		t.Errorf("%v %v", terms, changed)
	}
}

func FuzzParse(f *testing.F) {
	r := newRoom(5, 2, 0, 8)
	r.parties[1].Ask(Terms{quality.Delay, 12})
	for range 200 {
		r.tick(f)
		for _, m := range r.mail {
			f.Add(m.body)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, s, err := parseHost(b); err == nil {
			if got := appendHost(nil, h, s); string(got) != string(b) {
				t.Fatalf("% x becomes % x", b, got)
			}
		}
		if h, s, err := parseGuest(b); err == nil {
			if got := appendGuest(nil, h, s); string(got) != string(b) {
				t.Fatalf("% x becomes % x", b, got)
			}
		}
		for i := range 2 {
			p := New(i, 2, start)
			_ = p.Receive(1-i, b, 10)
			p.Step(0, 10, 6)
		}
	})
}
