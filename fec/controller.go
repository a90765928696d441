package fec

import "errors"

// Mode is the user's choice of redundancy on the packet stream.
type Mode uint8

const (
	// Auto sends no parity on the packet stream: a second datagram brings inputs sooner at high loss, as soon at low loss,
	// and for fewer bytes either way. The sender decides about that one by itself; docs/fec.md has the benchmark.
	Auto Mode = iota
	// Off sends no parity on the packet stream.
	Off
	// XOR sends one parity packet for each group of four.
	XOR
	// RS sends two parity packets for each group of four.
	RS
)

var modeNames = [...]string{Auto: "auto", Off: "off", XOR: "xor", RS: "rs"}

// ErrMode is returned by [ParseMode] for a name that is not a mode.
var ErrMode = errors.New("fec: the mode must be auto, off, xor or rs")

// String is the name of the mode as a setting.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "invalid"
}

// ParseMode is the inverse of [Mode.String].
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return Auto, ErrMode
}

// Signals are the measurements a [Controller] decides by. Loss and delay are
// kept apart: each alone says little about congestion.
type Signals struct {
	LossFast   uint32 // loss before repair over the last 128 packets, in millionths
	LossSlow   uint32 // the same over the last 512
	BurstMilli uint32 // mean number of packets lost in a row, in thousandths; 0 unknown
	Queue      int64  // standing queue of the path, µs: delay that neither its length nor its jitter explains
	RTTMin     int64  // least round-trip time of late, µs; 0 unknown
	Rate       int    // packets a second on the stream
	PacketSize int    // their mean size in bytes, headers of all layers included
	Budget     int    // bytes a second that parity may cost; 0 means no limit
}

// Plan is what a [Controller] decides.
type Plan struct {
	Parity bool   // send parity on the packet stream,
	Params Params // with these parameters
	// BulkLoss is the loss to size the parity of bulk for (see ParityFor), in
	// millionths.
	BulkLoss uint32
	// Congested: loss and delay rise together, so sending more would make it worse.
	Congested bool
}

// Thresholds of congestion: the queue adds a quarter to the round trip and at least
// 20 ms, and the last 128 packets lost half more than the last 512, and 1 % more at
// least.
const (
	queueFloor = 20_000
	lossStep   = 10_000
)

// Controller decides how much redundancy to send. The zero value is Auto. It
// keeps only whether congestion was on, so that it ends later than it begins.
type Controller struct {
	Mode      Mode
	congested bool
}

// Decide returns the plan for the measurements s. Call it about once a second;
// the plan holds until the next call.
//
// Under a budget groups grow up to MaxGroup before parity is given up. A mode
// chosen by the user stays on under congestion; parity for bulk is halved.
func (c *Controller) Decide(s Signals) Plan {
	c.congested = congested(s, c.congested)
	p := Plan{Congested: c.congested, BulkLoss: max(s.LossFast, s.LossSlow)}
	if p.Congested {
		p.BulkLoss /= 2
	}
	switch c.Mode {
	case XOR:
		p.Params = Params{Size: DefaultGroup, Parity: 1}
	case RS:
		p.Params = Params{Size: DefaultGroup, Parity: 2}
	default:
		return p
	}
	p.Parity = true
	for s.Budget > 0 && cost(s, p.Params) > int64(s.Budget) {
		if p.Params.Size == MaxGroup {
			return Plan{BulkLoss: p.BulkLoss, Congested: p.Congested}
		}
		p.Params.Size++
	}
	return p
}

// cost is what parity costs, in bytes a second.
func cost(s Signals, p Params) int64 {
	rate, size := int64(max(s.Rate, 0)), int64(max(s.PacketSize, 0))
	return rate * (size + 1 + lengthLen) * int64(p.Parity) / int64(p.Size)
}

func congested(s Signals, was bool) bool {
	if s.RTTMin <= 0 {
		return false
	}
	limit := max(s.RTTMin/4, queueFloor)
	if was {
		return s.Queue > limit/2
	}
	rising := uint64(s.LossFast) >= uint64(s.LossSlow)*3/2 && s.LossFast >= s.LossSlow+lossStep
	return s.Queue > limit && rising
}
