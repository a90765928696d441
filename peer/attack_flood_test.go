package peer

import (
	"encoding/binary"
	"testing"
	"time"

	"backstep/ackbits"
	"backstep/fec"
	channels "backstep/peer/channel"
	"backstep/peer/dialog"
	"backstep/peer/link"
	"backstep/peer/match"
	"backstep/rollback/wire"
)

// chatterbox is a link whose owner plays honestly and, with each packet, says more than the table of the channels
// allows: lines of chat, comings and goings, offers of blobs, how the link looks, and wishes for other terms.
type chatterbox struct {
	*link.Link
	numbers [8]uint16 // next message of each channel
	seq     ackbits.Seq
	said    [8]int
	terms   int
	buf     [wire.MaxPacket]byte
}

func (c *chatterbox) Send(pkt []byte) {
	c.Link.Send(pkt)
	if !wire.IsCompact(pkt) {
		return
	}
	stamp := make([]byte, 9)
	stamp[0] = 1
	offer := binary.LittleEndian.AppendUint32([]byte{1, byte(2*c.numbers[channels.MatchState] + 1), byte((2*c.numbers[channels.MatchState] + 1) >> 8), 2}, 5000)
	for _, m := range []struct {
		ch  channels.ID
		msg []byte
	}{
		{channels.ChatPresence, append([]byte{1}, "again and again and again"...)}, {channels.ChatPresence, []byte{2, byte(c.numbers[channels.ChatPresence] & 1)}},
		{channels.Telemetry, stamp}, {channels.MatchState, append(offer, make([]byte, 32)...)}, {channels.MatchState, []byte{16, 1, 2, 3}},
	} {
		for range 3 {
			c.say(m.ch, m.msg)
		}
	}
	for i := range 8 { // wishes, of the right length and not
		b := make([]byte, 6+i*2)
		b[0] = 8 // the kind of an accord's message
		binary.LittleEndian.PutUint32(b[1:], uint32(c.terms*2654435761))
		c.terms++
		c.Link.Send(match.AppendControl(c.buf[:0], b))
	}
}

func (c *chatterbox) say(ch channels.ID, msg []byte) {
	section := channels.AppendSection([]byte{channels.Kind}, []channels.Item{{Channel: ch, Number: c.numbers[ch], Count: 1, Payload: msg}})
	c.numbers[ch]++
	c.said[ch]++
	c.seq++
	p := wire.Packet{Newest: -1, Message: section, Seq: c.seq}
	c.Link.Send(wire.AppendFull(c.buf[:0], &p))
}

// A flood of honest messages, faster than any channel carries: what is above the rate of the table is thrown away and
// counted, the player hears no more than that rate, memory does not grow, and the match ends as one without it.
func TestFloodOfMessages(t *testing.T) {
	const frames = 240
	s := begin(t, nil)
	loud := &chatterbox{Link: s.ends[0].link}
	heard := map[dialog.Kind]int{}
	b, grown, took := besides(t, s, loud, frames, fec.Off, func(e dialog.Event) { heard[e.Kind]++ })
	st := s.ends[1].talk.Stats()
	t.Logf("%v of chat and presence, %d wishes in %v; heard %v, flooded %d, malformed %d and %d; %d stalls, the longest %d ticks", loud.said, loud.terms, took, heard, st.Flooded, st.Malformed, b.Malformed,
		b.Stats.Session.Stalls, b.Stats.Session.LongestStall)
	// Twice the window at once and then the rate of the table, a quarter more for an uneven clock.
	row := channels.ChatPresence.Row()
	if most := 2*row.Window + row.MaxHz*5/4*int(took/time.Second+1); heard[dialog.Chat]+heard[dialog.Presence] > most || heard[dialog.Chat] == 0 {
		t.Errorf("heard %v, at most %d of chat", heard, most)
	}
	if said := loud.said[channels.ChatPresence]; said < 5*frames || st.Flooded < uint64(said)/2 {
		t.Errorf("%d said on one channel, %d thrown away in all", said, st.Flooded)
	}
	if b.Malformed < int64(loud.terms)/2 {
		t.Errorf("%d wishes that cannot be, %d counted", loud.terms, b.Malformed)
	}
	if st := b.Stats.Session; st.LongestStall > 60 {
		t.Errorf("%d ticks of stall", st.LongestStall)
	}
	if grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
