package dialog

import (
	"bytes"
	"testing"

	"backstep/peer/bulk"
	"backstep/peer/channel"
	"backstep/rollback/wire"
)

// told hands a message of the other side to d as if it had come on a channel.
func told(d *Dialog, ch channel.ID, number uint16, msg []byte) {
	section := channel.AppendSection(nil, []channel.Item{{Channel: ch, Number: number, Payload: msg}})
	if d.mux.Check(section) == nil {
		d.mux.Receive(section, 1)
	}
}

// Case 21 of the attacks: what an authenticated opponent says about blobs is counted, costs no memory and begins nothing.
func TestHostileOffers(t *testing.T) {
	good := Offer{ID: 1, Purpose: Snapshot, Length: 5000}
	huge := good
	huge.Length = 1<<32 - 1
	for _, c := range []struct {
		name string
		msg  []byte
	}{
		{"4 GB", appendOffer(nil, &huge)},
		{"longer than any blob", appendOffer(nil, &Offer{ID: 1, Purpose: Snapshot, Length: bulk.MaxBlob + 1})},
		{"empty blob", appendOffer(nil, &Offer{ID: 1, Purpose: Snapshot})},
		{"unknown purpose", appendOffer(nil, &Offer{ID: 1, Purpose: purposes, Length: 5000})},
		{"id of this side", appendOffer(nil, &Offer{ID: 0, Purpose: Snapshot, Length: 5000})},
		{"id that skips", appendOffer(nil, &Offer{ID: 3, Purpose: Snapshot, Length: 5000})},
		{"short", appendOffer(nil, &good)[:offerLen-1]},
		{"answer to nothing", appendAnswer(nil, 0, accepted)},
		{"unknown verdict", appendAnswer(nil, 0, verdicts)},
		{"topic 4", []byte{4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(true)
			told(d, channel.MatchState, 0, c.msg)
			if e, ok := d.Next(); ok {
				t.Fatalf("%+v", e)
			}
			if d.Stats().Malformed != 1 || d.in.phase != idle || d.in.receiver != nil {
				t.Errorf("%+v", d.Stats())
			}
		})
	}
	// Offers without end: the newest one stands, and no more is kept than a few answers.
	d := New(true)
	for i := range uint16(60) {
		o := good
		o.ID = 1 + 2*i
		told(d, channel.MatchState, i, appendOffer(nil, &o))
		for {
			e, ok := d.Next()
			if !ok {
				break
			}
			if e.Kind == Offered {
				d.Decline(e.Offer.ID)
			}
		}
	}
	if d.owedN > owedMost || d.mux.Pending(channel.MatchState) > 16 {
		t.Errorf("%d and %d answers are kept", d.owedN, d.mux.Pending(channel.MatchState))
	}
	// Shards and reports of transfers there are not.
	p := wire.Packet{Newest: -1, Message: append([]byte{bulk.KindShard}, make([]byte, 100)...)}
	if mine, err := New(true).Receive(1, &p); !mine || err != nil {
		t.Errorf("%v %v", mine, err)
	}
	p.Message[0] = bulk.KindReport
	if mine, err := New(true).Receive(1, &p); !mine || err != nil {
		t.Errorf("%v %v", mine, err)
	}
}

// Nothing a program of ours does not send reaches the player.
func TestHostileSayings(t *testing.T) {
	for _, c := range []struct {
		name string
		ch   channel.ID
		msg  []byte
	}{
		{"escape sequence", channel.ChatPresence, []byte("\x01\x1b[2J")},
		{"bidirectional override", channel.ChatPresence, []byte("\x01abc\u202edef")},
		{"not UTF-8", channel.ChatPresence, []byte("\x01\xff")},
		{"empty line", channel.ChatPresence, []byte{1}},
		{"long line", channel.ChatPresence, append([]byte{1}, bytes.Repeat([]byte("a"), MaxChatRunes+1)...)},
		{"presence 2", channel.ChatPresence, []byte{chatHere, 2}},
		{"kind 3", channel.ChatPresence, []byte{3, 0}},
		{"short stamp", channel.Telemetry, []byte{1, 2, 3}},
		{"loss above all", channel.Telemetry, []byte{1, 0, 0, 0, 0, 0xff, 0xff, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(true)
			told(d, c.ch, 0, c.msg)
			if e, ok := d.Next(); ok || d.Stats().Malformed != 1 {
				t.Errorf("%+v %+v", e, d.Stats())
			}
		})
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(uint8(channel.MatchState), appendOffer(nil, &Offer{ID: 1, Purpose: Replay, Length: 9}))
	f.Add(uint8(channel.MatchState), appendAnswer(nil, 0, declined))
	f.Add(uint8(channel.MatchState), appendEnd(nil, 2))
	f.Add(uint8(channel.MatchState), []byte{byte(TopicDesync), 1})
	f.Add(uint8(channel.ChatPresence), []byte("\x01gg"))
	f.Add(uint8(channel.ChatPresence), appendHere(nil, true))
	f.Add(uint8(channel.Telemetry), appendStamp(nil, &Stamp{RTT: 80_000, Jitter: 900, Loss: 5000, Stalls: 3}))
	f.Fuzz(func(t *testing.T, ch uint8, msg []byte) {
		if id := channel.ID(ch); len(msg) == 0 || len(msg) > 256 || id.Row().MaxMessage == 0 || id == channel.Spectator {
			return
		}
		// Each parser takes exactly what its encoder makes.
		if o, err := parseOffer(msg); err == nil && !bytes.Equal(appendOffer(nil, &o), msg) {
			t.Errorf("offer %x", msg)
		}
		if id, v, err := parseAnswer(msg); err == nil && !bytes.Equal(appendAnswer(nil, id, v), msg) {
			t.Errorf("answer %x", msg)
		}
		if id, err := parseEnd(msg); err == nil && !bytes.Equal(appendEnd(nil, id), msg) {
			t.Errorf("end %x", msg)
		}
		if text, err := parseChat(msg); err == nil && !bytes.Equal(append([]byte{chatLine}, text...), msg) {
			t.Errorf("chat %x", msg)
		}
		if away, err := parseHere(msg); err == nil && !bytes.Equal(appendHere(nil, away), msg) {
			t.Errorf("presence %x", msg)
		}
		if s, err := parseStamp(msg); err == nil && !bytes.Equal(appendStamp(nil, &s), msg) {
			t.Errorf("stamp %x", msg)
		}
		// And a dialog in any state takes anything.
		for state := range 3 {
			d := New(true)
			if state > 0 {
				if _, err := d.Offer(Replay, []byte("blob"), 1); err != nil {
					t.Fatal(err)
				}
				told(d, channel.MatchState, 0, appendOffer(nil, &Offer{ID: 1, Purpose: Replay, Length: 9}))
				d.Next()
			}
			if state > 1 && !d.Accept(1) {
				t.Fatal("the offer does not stand")
			}
			told(d, channel.ID(ch), 1, msg)
			told(d, channel.ID(ch), 0, msg)
			for {
				if _, ok := d.Next(); !ok {
					break
				}
			}
			d.Step(2, &keep{}, true)
		}
	})
}
