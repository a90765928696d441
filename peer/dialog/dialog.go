package dialog

import (
	"math"

	"backstep/peer/bulk"
	"backstep/peer/channel"
	"backstep/rollback"
	"backstep/rollback/wire"
)

const (
	never = math.MaxInt64

	// shardsAtOnce is how many shards one Step sends at most, so that a tick
	// that becomes due meanwhile does not wait.
	shardsAtOnce = 4
	// owedMost is how many messages of transfers may wait for room in MatchState.
	owedMost = 4
	// owedRetry is how long they wait at least, in µs: a tick.
	owedRetry = 16_667
)

// Pipe takes packets for the other side; see match.Pipe.
type Pipe interface{ Send(pkt []byte) }

// Dialog is one side of one link. Make it with [New].
type Dialog struct {
	mux     *channel.Mux
	control *channel.Control
	clock   int64 // of the newest Step

	out outgoing
	in  incoming

	owed   [owedMost][offerLen]byte
	owedN  int
	lens   [owedMost]int
	events [8]Event
	eventN int

	malformed uint64

	msg [wire.MaxPacket]byte
	buf [wire.MaxPacket]byte
	pkt wire.Packet
}

// New makes a Dialog; host is true on one of the two sides.
func New(host bool) *Dialog {
	m := channel.New(channel.Config{})
	d := &Dialog{mux: m, control: channel.NewControl(m)}
	if !host {
		d.out.next = 1
	}
	d.in.parity = 1 - d.out.next
	d.in.last = d.in.parity - 2
	return d
}

// Sections is what rides in the input packets of a match, for
// [rollback.Driver.SetSections].
func (d *Dialog) Sections() rollback.Sections { return d.mux }

// SetPlaying says whether a match is running: see [channel.Mux.SetPlaying].
func (d *Dialog) SetPlaying(on bool) { d.mux.SetPlaying(on) }

// Send puts a message on a channel; see [channel.Mux.Send] for its errors. A
// MatchState message begins with its [Topic].
func (d *Dialog) Send(ch channel.ID, msg []byte) error { return d.mux.Send(ch, msg) }

// Chat says a line and returns it as the other side will show it. An empty one
// is channel.ErrSize; channel.ErrFull if the player types faster than the
// channel carries.
func (d *Dialog) Chat(text string) (line string, err error) {
	line = CleanChat(text)
	if line == "" {
		return "", channel.ErrSize
	}
	return line, d.mux.Send(channel.ChatPresence, append(append(d.msg[:0], chatLine), line...))
}

// Presence says whether the player is there.
func (d *Dialog) Presence(away bool) error {
	return d.mux.Send(channel.ChatPresence, appendHere(d.msg[:0], away))
}

// Stamp tells the other side how the link looks from here.
func (d *Dialog) Stamp(s Stamp) error {
	return d.mux.Send(channel.Telemetry, appendStamp(d.msg[:0], &s))
}

// Stats are the counts of a Dialog.
type Stats struct {
	// Messages of all channels: taken, known to have arrived, fragments sent
	// again, and handed out.
	Sent, Delivered, Resent, Received uint64
	Malformed                         uint64 // messages that no program of ours sends
	Flooded                           uint64 // thrown away because they came faster than the table allows
}

// Stats returns the counts so far.
func (d *Dialog) Stats() (s Stats) {
	for ch := channel.MatchState; ch <= channel.Lobby; ch++ {
		c := d.mux.Stats(ch)
		s.Sent += c.Accepted
		s.Delivered += c.Delivered
		s.Resent += c.Resent
		s.Received += c.Received
		s.Flooded += c.Flooded
	}
	s.Malformed = d.malformed
	return s
}

// Receive takes a full packet that arrived at time at and was parsed into p, if
// its message is of kinds 5 to 7; else mine is false. Errors are for counting.
func (d *Dialog) Receive(at int64, p *wire.Packet) (mine bool, err error) {
	if len(p.Message) == 0 {
		return false, nil
	}
	switch p.Message[0] {
	case channel.Kind:
		err = d.control.Receive(at, p)
	case bulk.KindShard:
		err = d.in.receive(d, at, p.Message)
	case bulk.KindReport:
		err = d.out.receive(d, at, p.Message)
	default:
		return false, nil
	}
	if err == bulk.ErrOther {
		err = nil // late, of a transfer before this one
	}
	return true, err
}

// Step sends what is due at now: shards and reports always, messages in packets
// of their own only if alone, while no input packets carry them. Call it after
// the tick that is due, so that no input waits for it.
func (d *Dialog) Step(now int64, pipe Pipe, alone bool) {
	d.clock = now
	d.pay()
	if alone {
		if b := d.control.AppendPacket(d.buf[:0], now); len(b) > 0 {
			pipe.Send(b)
		}
	}
	if r := d.in.receiver; r != nil {
		d.send(pipe, r.AppendReport(d.msg[:0], now))
	}
	d.out.step(d, now, pipe)
}

// Due is when, from now on, Step has something to send, math.MaxInt64 if not
// before something is said or arrives.
func (d *Dialog) Due(now int64, alone bool) int64 {
	at := int64(never)
	if alone {
		at = d.control.Next()
	}
	if d.owedN > 0 {
		at = min(at, now+owedRetry)
	}
	if r := d.in.receiver; r != nil {
		at = min(at, r.Next())
	}
	return min(at, d.out.due(now))
}

func (d *Dialog) send(pipe Pipe, msg []byte) bool {
	if len(msg) == 0 {
		return false
	}
	d.pkt = wire.Packet{Newest: -1, Message: msg}
	b := wire.AppendFull(d.buf[:0], &d.pkt)
	if len(b) > 0 {
		pipe.Send(b)
	}
	return true
}

// owe sends a message of a transfer as soon as MatchState has room. Beyond
// owedMost it is dropped: only an opponent who asks without end gets there.
func (d *Dialog) owe(msg []byte) {
	if d.owedN == owedMost {
		return
	}
	d.lens[d.owedN] = copy(d.owed[d.owedN][:], msg)
	d.owedN++
	d.pay()
}

func (d *Dialog) pay() {
	for d.owedN > 0 {
		if d.mux.Send(channel.MatchState, d.owed[0][:d.lens[0]]) != nil {
			return
		}
		d.owedN--
		copy(d.owed[:], d.owed[1:])
		copy(d.lens[:], d.lens[1:])
	}
}
