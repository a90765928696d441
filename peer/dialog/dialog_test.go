package dialog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"backstep/peer/bulk"
	"backstep/peer/channel"
	"backstep/rollback/wire"
)

const second = 1_000_000 // µs

// end is one side of a link in virtual time.
type end struct {
	t      testing.TB
	d      *Dialog
	rng    *rand.Rand
	other  *end
	now    int64
	delay  int64
	loss   float64
	flying []flying
	events []Event
	sent   int
	accept func(Offer) bool
}

type flying struct {
	at int64
	b  []byte
}

func (e *end) Send(b []byte) {
	e.sent++
	if len(b) > wire.MaxPacket {
		e.t.Errorf("a packet of %d bytes", len(b))
	}
	if e.rng.Float64() >= e.loss {
		o := e.other
		o.flying = append(o.flying, flying{e.now + e.delay + e.rng.Int64N(2000), slices.Clone(b)})
		slices.SortStableFunc(o.flying, func(a, b flying) int { return int(a.at - b.at) })
	}
}

func (e *end) step(now int64) {
	e.now = now
	for len(e.flying) > 0 && e.flying[0].at <= now {
		var p wire.Packet
		if err := wire.ParseFull(e.flying[0].b, &p); err != nil {
			e.t.Fatal(err)
		}
		if mine, err := e.d.Receive(e.flying[0].at, &p); !mine || err != nil {
			e.t.Fatalf("%v %v", mine, err)
		}
		e.flying = e.flying[1:]
		e.hear()
	}
	e.d.Step(now, e, true)
	e.hear()
}

func (e *end) hear() {
	for {
		ev, ok := e.d.Next()
		if !ok {
			return
		}
		ev.Body = slices.Clone(ev.Body)
		e.events = append(e.events, ev)
		if ev.Kind == Offered {
			if e.accept == nil || e.accept(ev.Offer) {
				if !e.d.Accept(ev.Offer.ID) {
					e.t.Error("the offer does not stand")
				}
			} else {
				e.d.Decline(ev.Offer.ID)
			}
		}
	}
}

func (e *end) find(k Kind) (found []Event) {
	for _, ev := range e.events {
		if ev.Kind == k {
			found = append(found, ev)
		}
	}
	return found
}

func pair(t testing.TB, seed uint64, delay int64, loss float64) (ends [2]*end) {
	for side := range ends {
		ends[side] = &end{t: t, d: New(side == 0), rng: rand.New(rand.NewPCG(seed, uint64(side))), delay: delay, loss: loss}
	}
	ends[0].other, ends[1].other = ends[1], ends[0]
	return ends
}

// run steps both whenever one asks for it, and at least every tick.
func run(ends [2]*end, from, to int64, until func() bool) int64 {
	for now := from; now < to; {
		next := now + 16_667
		for _, e := range ends {
			e.step(now)
		}
		if until != nil && until() {
			return now
		}
		for _, e := range ends {
			next = min(next, e.d.Due(now, true))
			if len(e.flying) > 0 {
				next = min(next, e.flying[0].at)
			}
		}
		now = max(next, now+100)
	}
	return to
}

func random(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 99))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// CHAN-02, CHAN-03, CHAN-05, CHAN-06: each kind of message arrives once and in order over a bad link.
func TestSayings(t *testing.T) {
	ends := pair(t, 1, 40_000, 0.2)
	a, b := ends[0].d, ends[1].d
	now := int64(1)
	for i := range 12 {
		line, err := a.Chat(fmt.Sprintf(" line\u202e %d\n", i))
		if err != nil || line != fmt.Sprintf("line %d", i) {
			t.Fatalf("%q %v", line, err)
		}
		if err := b.Presence(i%2 == 0); err != nil {
			t.Fatal(err)
		}
		if err := a.Send(channel.MatchState, []byte{byte(TopicDesync), byte(i)}); err != nil {
			t.Fatal(err)
		}
		if err := b.Stamp(Stamp{RTT: int64(i) * 1000, Jitter: 500, Loss: 12_300, Stalls: 7}); err != nil {
			t.Fatal(err)
		}
		now = run(ends, now, now+3*second, nil)
	}
	if a.Send(channel.Lobby, []byte("x")) != nil {
		t.Fatal("the lobby is closed between matches")
	}
	run(ends, now, now+20*second, nil)
	chat, topics := ends[1].find(Chat), ends[1].find(Message)
	here, stamps := ends[0].find(Presence), ends[0].find(Stamped)
	if len(chat) != 12 || len(topics) != 13 || len(here) != 12 || len(stamps) != 12 {
		t.Fatalf("%d lines, %d messages, %d presences, %d stamps", len(chat), len(topics), len(here), len(stamps))
	}
	for i := range 12 {
		if chat[i].Text != fmt.Sprintf("line %d", i) || here[i].Away != (i%2 == 0) ||
			topics[i].Channel != channel.MatchState || !bytes.Equal(topics[i].Body, []byte{byte(TopicDesync), byte(i)}) ||
			stamps[i].Stamp != (Stamp{RTT: int64(i) * 1000, Jitter: 500, Loss: 12_300, Stalls: 7}) {
			t.Errorf("%d: %+v %+v %+v %+v", i, chat[i], here[i], topics[i], stamps[i])
		}
	}
	if st := a.Stats(); st.Sent != 25 || st.Delivered != 25 || st.Malformed != 0 || b.Stats().Received != 25 {
		t.Errorf("%+v %+v", st, b.Stats())
	}
}

func TestChatBounds(t *testing.T) {
	d := New(true)
	if line, err := d.Chat(strings.Repeat("ж", 500)); err != nil || line != strings.Repeat("ж", MaxChatRunes) {
		t.Errorf("%q %v", line, err)
	}
	if line, err := d.Chat(strings.Repeat("🙂", 500)); err != nil || len(line) > MaxChatBytes {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	for _, nothing := range []string{"", " \n\t", "\u200b\u202e"} {
		if _, err := d.Chat(nothing); !errors.Is(err, channel.ErrSize) {
			t.Errorf("%q: %v", nothing, err)
		}
	}
	var err error
	for range 100 {
		if _, err = d.Chat("flood"); err != nil {
			break
		}
	}
	if !errors.Is(err, channel.ErrFull) {
		t.Errorf("a flood: %v", err)
	}
}

// Blobs of all sizes go both ways at once over a bad link, while the players chat.
func TestBlobs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ends := pair(t, rapid.Uint64().Draw(rt, "seed"), rapid.Int64Range(0, 150_000).Draw(rt, "delay"), rapid.Float64Range(0, 0.25).Draw(rt, "loss"))
		var blobs [2][]byte
		now := int64(1)
		for side, e := range ends {
			blobs[side] = random(uint64(side), rapid.IntRange(1, 60_000).Draw(rt, "size"))
			if _, err := e.d.Offer(Replay, blobs[side], now); err != nil {
				rt.Fatal(err)
			}
			if _, err := e.d.Offer(Replay, blobs[side], now); !errors.Is(err, ErrBusy) {
				rt.Fatal(err)
			}
			if _, err := e.d.Chat("gg"); err != nil {
				rt.Fatal(err)
			}
		}
		done := func() bool { return len(ends[0].find(Sent)) == 1 && len(ends[1].find(Sent)) == 1 }
		now = run(ends, now, 120*second, done)
		for side, e := range ends {
			got, sent := ends[1-side].find(Received), e.find(Sent)
			if len(got) != 1 || got[0].Err != nil || !bytes.Equal(got[0].Body, blobs[side]) || len(sent) != 1 || sent[0].Err != nil {
				rt.Fatalf("side %d: %d received, %d sent", side, len(got), len(sent))
			}
			if got[0].Offer.Purpose != Replay || got[0].Offer.ID != sent[0].Offer.ID {
				rt.Fatalf("%+v", got[0].Offer)
			}
		}
		// The next one begins at once: a finished transfer leaves nothing behind.
		next := random(7, 3000)
		if _, err := ends[0].d.Offer(Snapshot, next, now); err != nil {
			rt.Fatal(err)
		}
		run(ends, now, now+60*second, func() bool { return len(ends[0].find(Sent)) == 2 })
		if got := ends[1].find(Received); len(got) != 2 || !bytes.Equal(got[1].Body, next) {
			rt.Fatal("the second blob did not arrive")
		}
		if n := ends[0].d.Stats().Malformed + ends[1].d.Stats().Malformed; n != 0 {
			rt.Fatalf("%d messages refused", n)
		}
	})
}

func TestBlobEnds(t *testing.T) {
	blob := random(1, 50_000)
	for _, c := range []struct {
		name   string
		accept func(Offer) bool
		act    func(ends [2]*end)
		sender error
		got    error // of the receiver; nil: no event
	}{
		{name: "declined", accept: func(Offer) bool { return false }, sender: ErrDeclined},
		{name: "withdrawn by the sender", act: func(e [2]*end) { e[0].d.Withdraw(0) }, got: ErrWithdrawn},
		{name: "withdrawn by the receiver", act: func(e [2]*end) { e[1].d.Withdraw(0) }, sender: ErrWithdrawn},
		{name: "unanswered", act: func(e [2]*end) { e[0].loss = 1 }, sender: bulk.ErrSilent},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := pair(t, 3, 30_000, 0)
			ends[1].accept = c.accept
			if _, err := ends[0].d.Offer(Evidence, blob, 1); err != nil {
				t.Fatal(err)
			}
			run(ends, 1, second/8, nil)
			if c.act != nil {
				if out, _ := ends[0].d.Progress(); out.Need == 0 || out.Have >= out.Need || out.Purpose != Evidence {
					t.Fatalf("not on its way: %+v", out)
				}
				c.act(ends)
			}
			run(ends, second/8, 60*second, nil)
			sent, got := ends[0].find(Sent), ends[1].find(Received)
			if c.sender == nil && len(sent) != 0 || c.sender != nil && (len(sent) != 1 || !errors.Is(sent[0].Err, c.sender)) {
				t.Errorf("sender: %+v", sent)
			}
			if c.got == nil && len(got) != 0 || c.got != nil && (len(got) != 1 || !errors.Is(got[0].Err, c.got)) {
				t.Errorf("receiver: %+v", got)
			}
			ends[0].loss, ends[1].accept = 0, nil
			if _, err := ends[0].d.Offer(Evidence, blob, 60*second); err != nil {
				t.Fatal(err)
			}
			run(ends, 60*second, 120*second, nil)
			if got := ends[1].find(Received); len(got) == 0 || got[len(got)-1].Err != nil {
				t.Error("nothing could be sent afterwards")
			}
		})
	}
}

// What is offered to nobody ends.
func TestUnanswered(t *testing.T) {
	ends := pair(t, 4, 0, 1)
	if _, err := ends[0].d.Offer(Replay, []byte("x"), 1); err != nil {
		t.Fatal(err)
	}
	run(ends, 1, 31*second, nil)
	if sent := ends[0].find(Sent); len(sent) != 1 || !errors.Is(sent[0].Err, ErrUnanswered) {
		t.Errorf("%+v", sent)
	}
	if _, err := ends[0].d.Offer(0, []byte("x"), 1); !errors.Is(err, ErrBlob) {
		t.Error(err)
	}
	if _, err := ends[0].d.Offer(Replay, nil, 1); !errors.Is(err, ErrBlob) {
		t.Error(err)
	}
}

// A transfer keeps the rate of package bulk: between two ticks no more than a few packets leave.
func TestShardsLeaveRoom(t *testing.T) {
	ends := pair(t, 5, 50_000, 0)
	if _, err := ends[0].d.Offer(Snapshot, random(1, 400_000), 1); err != nil {
		t.Fatal(err)
	}
	most := 0
	for now := int64(1); now < 4*second; now += 16_667 {
		for _, e := range ends {
			before := e.sent
			e.step(now)
			most = max(most, e.sent-before)
		}
	}
	if most > shardsAtOnce+2 {
		t.Errorf("%d packets in one step", most)
	}
}

// In the steady state nothing allocates: neither a quiet dialog nor stamps and messages.
func TestAllocations(t *testing.T) {
	var ends [2]*Dialog
	pipes := [2]*keep{{}, {}}
	ends[0], ends[1] = New(true), New(false)
	msg := []byte{byte(TopicMode), 1, 2, 3}
	var p wire.Packet
	now := int64(1)
	tick := func() {
		now += 50_000
		for side, d := range ends {
			if now%200_000 < 50_000 {
				_ = d.Send(channel.MatchState, msg)
				_ = d.Stamp(Stamp{RTT: 100})
			}
			d.Step(now, pipes[side], true)
			d.Due(now, true)
			if n := pipes[side].n; n > 0 {
				if wire.ParseFull(pipes[side].b[:n], &p) != nil {
					t.Fatal("does not parse")
				}
				if _, err := ends[1-side].Receive(now, &p); err != nil {
					t.Fatal(err)
				}
				pipes[side].n = 0
			}
			for {
				if _, ok := ends[1-side].Next(); !ok {
					break
				}
			}
		}
	}
	for range 100 {
		tick()
	}
	if n := testing.AllocsPerRun(500, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if ends[0].Stats().Received < 100 {
		t.Errorf("%+v", ends[0].Stats())
	}
}

type keep struct {
	b [wire.MaxPacket]byte
	n int
}

func (k *keep) Send(b []byte) { k.n = copy(k.b[:], b) }
