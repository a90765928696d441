package dialog

import (
	"crypto/sha256"

	"backstep/peer/bulk"
)

// answerLimit is how long an offer waits for its answer, in µs.
const answerLimit = 30_000_000

type phase uint8

const (
	idle      phase = iota
	asked           // out: offered, not answered; in: offered here
	running         // shards travel
	lingering       // in: complete, late shards are answered
)

// outgoing is the blob this side sends.
type outgoing struct {
	phase  phase
	next   uint16 // id of the next one; the host's are even, the joiner's odd
	offer  Offer
	blob   []byte
	askedT int64
	loss   uint32
	rtt    int64
	sender *bulk.Sender
}

// incoming is the blob this side gets.
type incoming struct {
	phase    phase
	parity   uint16 // of the other side's ids
	last     uint16 // newest id offered
	offer    Offer
	receiver *bulk.Receiver
}

// Path tells what is measured of the link, for the first round of the blobs
// that follow: inbound loss in millionths and round trip in µs, 0 if unknown.
func (d *Dialog) Path(loss, rtt int64) {
	d.out.loss, d.out.rtt = uint32(min(max(loss, 0), 500_000)), min(max(rtt, 0), 10_000_000)
}

// Offer begins to send a blob; it keeps it, and it must not change. The result
// is an event Sent. It fails with ErrBusy while another one is on its way and
// with ErrBlob.
func (d *Dialog) Offer(p Purpose, blob []byte, now int64) (id uint16, err error) {
	o := &d.out
	switch {
	case o.phase != idle || d.owedN == owedMost:
		return 0, ErrBusy
	case len(blob) == 0 || len(blob) > bulk.MaxBlob || p == 0 || p >= purposes:
		return 0, ErrBlob
	}
	o.offer = Offer{ID: o.next, Purpose: p, Length: uint32(len(blob)), Sum: sha256.Sum256(blob)}
	o.next += 2
	o.phase, o.blob, o.askedT = asked, blob, now
	var b [offerLen]byte
	d.owe(appendOffer(b[:0], &o.offer))
	return o.offer.ID, nil
}

// Accept answers an event Offered: the blob is wanted. It reports whether the
// offer still stands.
func (d *Dialog) Accept(id uint16) bool {
	in := &d.in
	if in.phase != asked || in.offer.ID != id {
		return false
	}
	r, err := bulk.NewReceiver(bulk.ReceiverConfig{ID: id, Limit: int(in.offer.Length), Sum: &in.offer.Sum})
	if err != nil {
		d.Decline(id)
		return false
	}
	in.phase, in.receiver = running, r
	d.answer(id, accepted)
	return true
}

// Decline answers an event Offered: the blob is not wanted.
func (d *Dialog) Decline(id uint16) {
	if d.in.phase == asked && d.in.offer.ID == id {
		d.in.phase = idle
		d.answer(id, declined)
	}
}

func (d *Dialog) answer(id uint16, v verdict) {
	var b [answerLen]byte
	d.owe(appendAnswer(b[:0], id, v))
}

// Withdraw ends a transfer of either direction; there is no event for it here.
func (d *Dialog) Withdraw(id uint16) {
	switch {
	case d.out.phase != idle && d.out.offer.ID == id:
		d.out.reset()
	case (d.in.phase == asked || d.in.phase == running) && d.in.offer.ID == id:
		d.in.reset()
	default:
		return
	}
	var b [endLen]byte
	d.owe(appendEnd(b[:0], id))
}

// Progress is how far a transfer is: shards that arrived and shards needed,
// both 0 while nothing runs or nothing is known.
type Progress struct {
	Purpose    Purpose
	Have, Need int
}

// Progress returns the state of both directions.
func (d *Dialog) Progress() (out, in Progress) {
	if d.out.sender != nil {
		out.Purpose = d.out.offer.Purpose
		out.Have, out.Need = d.out.sender.Progress()
	}
	if d.in.phase == running {
		in.Purpose = d.in.offer.Purpose
		in.Have, in.Need = d.in.receiver.Progress()
	}
	return out, in
}

// transfer uses up a message about blobs.
func (d *Dialog) transfer(msg []byte) error {
	switch msg[0] {
	case topicOffer:
		o, err := parseOffer(msg)
		if err != nil {
			return err
		}
		return d.offered(o)
	case topicAnswer:
		id, v, err := parseAnswer(msg)
		if err != nil {
			return err
		}
		return d.answered(id, v)
	case topicEnd:
		id, err := parseEnd(msg)
		if err != nil {
			return err
		}
		switch {
		case d.out.phase != idle && d.out.offer.ID == id:
			d.out.finish(d, ErrWithdrawn)
		case (d.in.phase == asked || d.in.phase == running) && d.in.offer.ID == id:
			d.raise(Event{Kind: Received, Offer: d.in.offer, Err: ErrWithdrawn})
			d.in.reset()
		}
		return nil
	}
	return errMessage
}

// offered: ids rise by two, so that an old offer cannot begin anew.
func (d *Dialog) offered(o Offer) error {
	in := &d.in
	if o.ID != in.last+2 || o.ID&1 != in.parity {
		return errMessage
	}
	in.last = o.ID
	if in.phase == asked || in.phase == running {
		// A sender has one blob at a time, so the one before is given up.
		d.raise(Event{Kind: Received, Offer: in.offer, Err: ErrWithdrawn})
	}
	in.reset()
	in.phase, in.offer = asked, o
	d.raise(Event{Kind: Offered, Offer: o})
	return nil
}

func (d *Dialog) answered(id uint16, v verdict) error {
	o := &d.out
	if o.phase != asked || o.offer.ID != id {
		return errMessage
	}
	switch v {
	case declined:
		o.finish(d, ErrDeclined)
	default:
		s, err := bulk.NewSender(bulk.Config{ID: id, Loss: o.loss, RTT: o.rtt}, o.blob, d.clock)
		if err != nil {
			o.finish(d, err)
			return nil
		}
		o.phase, o.sender = running, s
	}
	return nil
}

func (o *outgoing) reset() {
	o.phase, o.blob, o.sender = idle, nil, nil
}

func (o *outgoing) finish(d *Dialog, err error) {
	offer := o.offer
	o.reset()
	d.raise(Event{Kind: Sent, Offer: offer, Err: err})
}

func (o *outgoing) receive(d *Dialog, at int64, msg []byte) error {
	if o.sender == nil {
		return nil // repeated reports of a transfer that is over
	}
	err := o.sender.Receive(at, msg)
	o.look(d)
	return err
}

func (o *outgoing) step(d *Dialog, now int64, pipe Pipe) {
	if o.phase == asked && now-o.askedT >= answerLimit {
		o.finish(d, ErrUnanswered)
	}
	if o.sender == nil {
		return
	}
	for range shardsAtOnce {
		if !d.send(pipe, o.sender.AppendShard(d.msg[:0], now)) {
			break
		}
	}
	o.look(d)
}

// look ends the transfer if its sender has.
func (o *outgoing) look(d *Dialog) {
	switch {
	case o.sender.Done():
		o.finish(d, nil)
	case o.sender.Err() != nil:
		o.finish(d, o.sender.Err())
	}
}

func (o *outgoing) due(now int64) int64 {
	switch {
	case o.sender != nil:
		return o.sender.Next(now)
	case o.phase == asked:
		return o.askedT + answerLimit
	}
	return never
}

func (in *incoming) reset() { in.phase, in.receiver = idle, nil }

func (in *incoming) receive(d *Dialog, at int64, msg []byte) error {
	if in.receiver == nil {
		return nil // late shards of a transfer that was ended
	}
	err := in.receiver.Receive(at, msg)
	if in.phase != running {
		return err
	}
	if blob, ok := in.receiver.Blob(); ok {
		in.phase = lingering
		d.raise(Event{Kind: Received, Offer: in.offer, Body: blob})
	} else if end := in.receiver.Err(); end != nil {
		in.phase = lingering
		d.raise(Event{Kind: Received, Offer: in.offer, Err: end})
	}
	return err
}
