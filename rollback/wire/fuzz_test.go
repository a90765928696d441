package wire

import (
	"bytes"
	"reflect"
	"testing"
)

func FuzzFull(f *testing.F) {
	p, _ := steady()
	f.Add(AppendFull(nil, &p))
	parity := Packet{Seq: 9, HasFEC: true, Group: 3, Size: 4, Index: 4, Parity: []byte("parity")}
	f.Add(AppendFull(nil, &parity))
	p.Message, p.HasHash, p.HasConfirmed, p.Confirmed, p.HasLoss = []byte("m"), true, true, 1230, true
	f.Add(AppendFull(nil, &p))
	f.Add([]byte("V2RB\x02CRC!"))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Without a right CRC nothing behind it would be reached.
		if len(b) >= fullPayload && len(b) <= MaxPacket {
			seal(b)
		}
		var q, again Packet
		if ParseFull(b, &q) != nil {
			return
		}
		if !bytes.Equal(AppendFull(nil, &q), b) {
			t.Errorf("%x parsed as %+v, which is encoded as %x", b, q, AppendFull(nil, &q))
		}
		// A packet in one form can be said in the other.
		ref := Ref{Frame: q.First}
		if q.Count == 0 {
			ref.Frame = q.Newest
		}
		if err := ParseCompact(AppendCompact(nil, &q, ref), &again, ref); err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%+v is in compact form %+v, %v", q, again, err)
		}
	})
}

func FuzzCompact(f *testing.F) {
	p, ref := steady()
	f.Add(AppendCompact(nil, &p, ref), ref.Frame)
	parity := Packet{Seq: 9, HasFEC: true, Group: 3, Size: 4, Index: 4, Parity: []byte("parity")}
	f.Add(AppendCompact(nil, &parity, ref), ref.Frame)
	none := Packet{Newest: 1200}
	f.Add(AppendCompact(nil, &none, ref), ref.Frame)
	p.Message, p.HasHash, p.HasConfirmed, p.Confirmed, p.HasLoss = []byte("m"), true, true, 1230, true
	p.Newest, p.AckBits = 1229, 7
	f.Add(AppendCompact(nil, &p, ref), ref.Frame)
	f.Fuzz(func(t *testing.T, b []byte, frame int32) {
		var q, again Packet
		ref := Ref{Frame: frame}
		if ParseCompact(b, &q, ref) != nil {
			return
		}
		if !bytes.Equal(AppendCompact(nil, &q, ref), b) {
			t.Errorf("%x parsed as %+v, which is encoded as %x", b, q, AppendCompact(nil, &q, ref))
		}
		if err := ParseFull(AppendFull(nil, &q), &again); err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%+v is in full form %+v, %v", q, again, err)
		}
	})
}
