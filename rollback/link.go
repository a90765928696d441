package rollback

import (
	"errors"

	"backstep/ackbits"
	"backstep/fec"
	"backstep/rollback/input"
	"backstep/rollback/pacing"
	"backstep/rollback/tally"
	"backstep/rollback/wire"
)

var (
	// ErrForm: a packet in compact form where only the full form, which has a checksum, is believed.
	ErrForm = errors.New("rollback: packet in compact form over a channel that does not authenticate")
	// ErrGap: a packet whose inputs begin beyond what is known, so that they cannot be read.
	ErrGap = errors.New("rollback: packet whose inputs leave a gap")
	// ErrFrameRange: a packet that tells of frames no honest player can have reached.
	ErrFrameRange = errors.New("rollback: packet of an impossible frame")
)

// MaxSection is the longest opaque section a packet is given, in bytes: beside it the longest inputs still fit, and the
// packet fits a parity group.
const MaxSection = 600

const (
	tripShift = 8 // bins of 256 µs
	tripBins  = 4096

	lossReportEvery = 64 // main packets
)

// Link is the protocol with one other player: sequence numbers and acknowledgements, the inputs not yet acknowledged
// in every packet, hashes, lags and parity. It belongs to its Driver and its goroutine.
//
//	unacknowledged words ──▶ packet ──▶ parity group      second datagram: the same words once more,
//	         ▲                                            when the window would otherwise run out
//	         │
//	acked: everything the packet carried    ◀── acks ◀── packet ◀── rebuilt from parity, acked alike
//	confirmed words ──▶ session             ◀── words
//	lag sample ──▶ pacer                    ◀── lag, only on main packets of ticks that advanced
type Link[S comparable, W input.Word] struct {
	d      *Driver[S, W]
	player int

	received  ackbits.Received
	sent      ackbits.Sent
	delivered int32 // newest own frame known to have arrived there
	onDeliver func(ackbits.Seq, int64)

	in, out wire.Packet
	words   []W
	run     []byte

	sync     pacing.Estimator
	mine     int64 // newest lag measured here, µs
	theirs   int64 // newest lag claimed there, µs
	hasMine  bool
	newMine  bool // not sent yet
	reported int32
	trip     tally.Histogram // round trips from lags, µs

	hold     int64 // until when second datagrams are sent, µs
	holding  bool
	secondAt int64
	secondOn bool
	budget   int64 // byte-microseconds left
	refilled int64

	encoder    fec.Encoder
	decoder    fec.Decoder
	controller fec.Controller
	parity     bool
	congested  bool // by the last plan
	plannedIn  int  // ticks until the plan is made anew
	parityBuf  []byte
	rawLoss    uint16 // what the other side reports, 1/65536
	rawBurst   uint8
	waited     int64 // main packets that said the other side did not advance

	sections  Sections
	section   []byte // room for what sections fill in
	heardAt   int64  // when the packet came whose acknowledgement is being taken
	onGivenUp func(ackbits.Seq, int64)

	first, newest         int32 // their newest simulated frames, at the first and the last packet
	firstAt, newestAt     int64
	mainPackets           int
	stats                 LinkStats
	inputBytes            tally.Histogram
	sentBase              ackbits.SentStats
	receivedBase          ackbits.ReceivedStats
	lossBase, observeBase uint64
}

func newLink[S comparable, W input.Word](d *Driver[S, W], player int) *Link[S, W] {
	l := &Link[S, W]{
		d:          d,
		player:     player,
		delivered:  -1,
		reported:   -1,
		first:      -1,
		newest:     -1,
		words:      make([]W, wire.MaxCount),
		run:        make([]byte, 0, wire.MaxInputs),
		parityBuf:  make([]byte, 0, fec.MaxParityPayload),
		trip:       tally.New(tripBins, tripShift),
		inputBytes: tally.New(wire.MaxInputs+1, 0),
		controller: fec.Controller{Mode: d.cfg.FEC},
	}
	l.onDeliver, l.onGivenUp = l.deliver, l.giveUp
	l.planParity()
	return l
}

// Player is who is at the other end.
func (l *Link[S, W]) Player() int { return l.player }

// Delivered is the newest frame up to which this side's inputs are known to have arrived, -1 for none.
func (l *Link[S, W]) Delivered() int32 { return l.delivered }

// Reported is the newest frame the other side is known to have all inputs of, -1 for none: by what it said, or, of two
// players, by what was delivered there and what came from there. Then a compact packet need not say it.
func (l *Link[S, W]) Reported() int32 {
	if l.d.cfg.Players > 2 {
		return l.reported
	}
	return max(l.reported, min(l.delivered, l.d.s.conf[l.player]))
}

// Newest is the newest frame the other side is known to have simulated, -1 for none.
func (l *Link[S, W]) Newest() int32 { return l.newest }

// RoundTrip is the smoothed round trip in µs, free of tick quantisation, and the deviation of one way; 0 before the
// first sample.
func (l *Link[S, W]) RoundTrip() (micros, jitter int64) { return l.sync.RoundTrip(), l.sync.Jitter() }
