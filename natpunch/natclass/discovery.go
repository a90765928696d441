package natclass

import (
	"crypto/rand"
	"net/netip"

	"backstep/natpunch/stunguard"
)

// The steps in their order.
const (
	stepFirst   = iota
	stepBoth    // another address and port
	stepChange  // another port
	stepSecond  // PORT+1
	stepFar     // the second address
	stepControl // stepBoth again, now that the second address was sent to
	steps
)

// Timing in microseconds: a request is sent again after 150, 300 and 600 ms and
// given up 1.2 s later. Silence is what a filter answers to requests for
// another port or address, so those have one try less: PORT has just answered. A
// relay that is silent takes 2.25 s, each filter 1.05 s.
const (
	resend      = 150_000
	tries       = 4
	changeTries = 3
)

// Discovery asks one relay, one address family. The zero value asks nothing;
// make one with New. It is a plain state machine over int64 microseconds and not
// safe for concurrent use.
type Discovery struct {
	steps [steps]step
}

type step struct {
	to       netip.AddrPort // whom to ask; invalid for a step that is left out
	from     netip.AddrPort // who answers
	id       stunguard.TransactionID
	change   change
	sent     int
	began    int64 // when it was sent first
	due      int64
	answered bool
	seen     netip.AddrPort
	rtt      int64
}

// change is what a request asks the relay to answer from.
type change uint8

const (
	changeNothing change = iota
	changePort
	changeBoth
)

// answers reports whether the answer to s may come from a.
func (s *step) answers(a netip.AddrPort) bool {
	if s.change == changeBoth {
		// Which of its addresses the relay takes is its own business: that it is
		// not the one that was asked is what counts.
		return a.Addr() != s.to.Addr()
	}
	return a == s.from
}

func (s *step) over(now int64) bool {
	limit := tries
	if s.change != changeNothing {
		limit = changeTries
	}
	return !s.to.IsValid() || s.answered || s.sent == limit && now >= s.due
}

// New asks relay, and second if it is valid, from the first Poll on. Both are of
// one family; second is another address of the relay or another relay.
func New(relay, second netip.AddrPort) *Discovery {
	d := &Discovery{}
	next := netip.AddrPort{}
	if p := relay.Port() + 1; p != 0 {
		next = netip.AddrPortFrom(relay.Addr(), p)
	}
	d.steps[stepFirst] = step{to: relay, from: relay}
	if next.IsValid() {
		d.steps[stepChange] = step{to: relay, from: next, change: changePort}
		d.steps[stepSecond] = step{to: next, from: next}
	}
	if second.IsValid() && second.Addr() != relay.Addr() {
		d.steps[stepFar] = step{to: second, from: second}
		if next.IsValid() {
			d.steps[stepBoth] = step{to: relay, change: changeBoth}
			d.steps[stepControl] = d.steps[stepBoth]
		}
	}
	for i := range d.steps {
		// crypto/rand never fails on the supported systems.
		_, _ = rand.Read(d.steps[i].id[:])
	}
	return d
}

// current is the step that is under way, nil when all are over or when PORT did
// not answer, without which the others say nothing.
func (d *Discovery) current(now int64) *step {
	for i := range d.steps {
		s := &d.steps[i]
		if !s.over(now) && (i != stepControl || d.wantsControl()) {
			return s
		}
		if i == stepFirst && !s.answered {
			return nil
		}
	}
	return nil
}

// wantsControl: silence to stepBoth may be a filter by address, or a relay that
// does not answer from its second one. Where PORT+1 was kept out too there is
// nothing left to tell.
func (d *Discovery) wantsControl() bool {
	return !d.steps[stepBoth].answered && d.steps[stepChange].answered && d.steps[stepFar].answered
}

// Done reports that nothing more will be asked.
func (d *Discovery) Done(now int64) bool { return d.current(now) == nil }

// Poll appends a request that is due to b and says where to; without one to is
// invalid. wake is when to call again, 0 when Done. It allocates only to grow b.
func (d *Discovery) Poll(b []byte, now int64) (request []byte, to netip.AddrPort, wake int64) {
	s := d.current(now)
	switch {
	case s == nil:
		return b, netip.AddrPort{}, 0
	case s.sent > 0 && now < s.due:
		return b, netip.AddrPort{}, s.due
	}
	s.due = now + resend<<s.sent
	if s.sent++; s.sent == 1 {
		s.began = now
	}
	switch s.change {
	case changePort:
		return stunguard.AppendChangePort(b, s.id), s.to, s.due
	case changeBoth:
		return stunguard.AppendChangeBoth(b, s.id), s.to, s.due
	}
	return stunguard.AppendRequest(b, s.id), s.to, s.due
}

// Receive reports whether b is an answer to a request of ours, from where it has
// to come from. A second answer changes nothing.
func (d *Discovery) Receive(b []byte, from netip.AddrPort, now int64) bool {
	for i := range d.steps {
		s := &d.steps[i]
		if s.sent == 0 || !s.answers(from) {
			continue
		}
		seen, err := stunguard.ParseAnswer(b, s.id)
		if err != nil {
			continue
		}
		if !s.answered {
			s.answered, s.seen, s.rtt = true, seen, max(1, now-s.began)
		}
		return true
	}
	return false
}
