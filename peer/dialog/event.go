package dialog

import (
	"errors"

	"backstep/peer/channel"
)

// Kind says what an event is.
type Kind uint8

// The kinds of events, and the fields that are set.
const (
	Message  Kind = iota + 1 // Channel, Body: a message that is nothing of the following
	Chat                     // Text
	Presence                 // Away
	Stamped                  // Stamp
	Offered                  // Offer: to be answered by Accept or Decline
	Received                 // Offer, and Body (which is the receiver's) or Err
	Sent                     // Offer, and Err if it did not arrive
)

// Event is something that arrived, or came of a transfer.
type Event struct {
	Kind    Kind
	Channel channel.ID
	// Body of a Message is valid until the next call of Next or Receive.
	Body  []byte
	Text  string
	Away  bool
	Stamp Stamp
	Offer Offer
	Err   error
}

// Errors of transfers, beside those of package bulk.
var (
	// ErrBusy: a blob is on its way already.
	ErrBusy = errors.New("dialog: another transfer is running")
	// ErrDeclined: the other side does not want the blob.
	ErrDeclined = errors.New("dialog: the other side declined")
	// ErrUnanswered: the other side did not say whether it wants the blob.
	ErrUnanswered = errors.New("dialog: the offer was not answered")
	// ErrWithdrawn: one side ended the transfer.
	ErrWithdrawn = errors.New("dialog: the transfer was withdrawn")
	// ErrBlob: an empty blob, or one that is too long.
	ErrBlob = errors.New("dialog: the blob is empty or too long")
)

// Next hands out what arrived, the results of transfers first; ok is false if
// there is nothing left. Call it until then after each packet that arrived,
// also after one that the driver of a match took.
func (d *Dialog) Next() (e Event, ok bool) {
	for {
		if d.eventN > 0 {
			e = d.events[0]
			copy(d.events[:], d.events[1:d.eventN])
			d.eventN--
			d.events[d.eventN] = Event{}
			return e, true
		}
		ch, msg, ok := d.mux.Next()
		if !ok {
			return Event{}, false
		}
		e, err := d.read(ch, msg)
		switch {
		case err != nil:
			d.malformed++
		case e.Kind != 0:
			return e, true
		}
	}
}

// read makes an event of a message, or uses it up.
func (d *Dialog) read(ch channel.ID, msg []byte) (e Event, err error) {
	e = Event{Kind: Message, Channel: ch, Body: msg}
	switch ch {
	case channel.MatchState:
		if Topic(msg[0]) < TopicDesync {
			return Event{}, d.transfer(msg)
		}
	case channel.ChatPresence:
		e = Event{Channel: ch}
		switch msg[0] {
		case chatLine:
			e.Kind = Chat
			e.Text, err = parseChat(msg)
		default:
			e.Kind = Presence
			e.Away, err = parseHere(msg)
		}
	case channel.Telemetry:
		e = Event{Kind: Stamped, Channel: ch}
		e.Stamp, err = parseStamp(msg)
	}
	return e, err
}

// raise adds an event; there is never more than one of each transfer and kind.
func (d *Dialog) raise(e Event) {
	if d.eventN < len(d.events) {
		d.events[d.eventN] = e
		d.eventN++
	}
}
