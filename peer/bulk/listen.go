package bulk

import (
	"backstep/ackbits"
	"backstep/fec"
)

// Receive takes a message from the other side that arrived at time at. Errors
// are for counting and change nothing: ErrMessage for one that is malformed or
// speaks of what was never sent, ErrOther for one about another blob. What a
// report ends is in Done and Err.
func (s *Sender) Receive(at int64, msg []byte) error {
	r := &s.report
	if err := ParseReport(msg, r); err != nil {
		s.stats.Refused++
		return err
	}
	if r.Blob != s.cfg.ID {
		return ErrOther
	}
	next := s.flights.next
	n := ackbits.Unwrap(next-1, r.Ack)
	if n < 0 || n >= next || !s.possible(r.Needs) {
		s.stats.Refused++
		return ErrMessage
	}
	if s.done || s.err != nil {
		return nil
	}
	s.stats.Reports++
	s.heard, s.probes = max(s.heard, at), 0
	s.sent.Acked(at, r.Ack, r.Bits, int64(r.Delay)*delayUnit, nil)
	switch r.State {
	case Complete:
		s.done = true
		return nil
	case Refused:
		s.err = ErrRefused
		return nil
	}
	if n < s.reported {
		s.stats.Stale++
		return nil
	}
	s.reported = n
	s.flights.landed(n)
	s.needs(r.Needs)
	s.decide(at)
	s.plan()
	return nil
}

// possible reports whether the blocks of a report exist and can need that much.
func (s *Sender) possible(needs []fec.Need) bool {
	for _, n := range needs {
		if int(n.Block) >= len(s.blocks) || int(n.Shards) > s.enc.Data(int(n.Block)) {
			return false
		}
	}
	return true
}

// needs takes what a report says is missing. A block that it leaves out is
// complete, unless the report was full before it came to it. No block ever
// needs more than it did.
func (s *Sender) needs(needs []fec.Need) {
	told := len(s.blocks)
	if len(needs) == fec.MaxNeeds {
		told = int(needs[len(needs)-1].Block) + 1
	}
	i := 0
	for b := range told {
		need := 0
		if i < len(needs) && int(needs[i].Block) == b {
			need = int(needs[i].Shards)
			i++
		}
		s.blocks[b].need = min(s.blocks[b].need, need)
	}
}

// queueFloor is the least standing queue that counts, in µs.
const queueFloor = 20_000

// decide measures loss and queue, once a round trip. A queue alone cuts the
// rate; loss that rises with it cuts the redundancy.
func (s *Sender) decide(now int64) {
	if now < s.decideAt {
		return
	}
	s.decideAt = now + s.trip()
	loss, least, queue := s.sent.Loss(), s.sent.RTT().Min(), s.sent.RTT().Queue()
	s.loss = s.controller.Decide(fec.Signals{
		LossFast: loss.Fast().PPM(),
		LossSlow: max(loss.Slow().PPM(), s.cfg.Loss),
		Queue:    queue,
		RTTMin:   least,
	}).BulkLoss
	if queue > max(least/4, queueFloor) {
		s.pacer.cut()
		s.stats.Cuts++
		return
	}
	s.pacer.grow()
}
