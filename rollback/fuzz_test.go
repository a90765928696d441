package rollback

import (
	"errors"
	"testing"

	"backstep/rollback/wire"
)

// Whatever arrives, a driver keeps running, settles nothing it was not told, and allocates nothing to refuse it.
func FuzzReceive(f *testing.F) {
	full := wire.Packet{Newest: 5, First: 0, Count: 6, Current: true, Main: true, Advanced: true, HasLag: true, Lag: 100}
	f.Add(wire.AppendFull(nil, &full), true)
	f.Add(wire.AppendCompact(nil, &full, wire.Ref{Frame: -1}), false)
	parity := wire.Packet{Seq: 9, HasFEC: true, Group: 1, Index: 4, Size: 4, Parity: []byte{1, 2, 0, 3, 4}}
	f.Add(wire.AppendFull(nil, &parity), true)
	f.Add(wire.AppendCompact(nil, &parity, wire.Ref{Frame: -1}), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, clear bool) {
		cfg := DefaultConfig()
		cfg.RequireEncryptedTransport = !clear
		d, err := NewDriver(smallGame{}, cfg, new(small), 0)
		if err != nil {
			t.Fatal(err)
		}
		now := int64(0)
		for range 3 {
			now += 16_667
			err := d.Receive(now, b)
			d.Tick(now, 1)
			if d.AppendPacket(nil, now) == nil {
				t.Fatal("no packet could be made")
			}
			if err != nil && d.Err() == nil && d.Confirmed() >= 0 && !errors.Is(err, ErrConflict) && d.Stats().Link.Packets.Malformed+d.Stats().Link.Packets.Refused == 0 {
				t.Fatalf("dropped without a count: %v", err)
			}
			if top := d.Session().Settled(); top > d.Confirmed() {
				t.Fatalf("settled %d, confirmed %d", top, d.Confirmed())
			}
		}
	})
}
