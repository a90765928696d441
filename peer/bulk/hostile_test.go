package bulk

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"backstep/ackbits"
	"backstep/fec"
)

func shardMessage(seq ackbits.Seq, change func(*fec.Shard)) []byte {
	s := fec.Shard{Blob: 1, Length: 5000, Size: 1024, Data: 5, Parity: 2, Payload: make([]byte, 1024)}
	if change != nil {
		change(&s)
	}
	return AppendShard(nil, seq, &s)
}

// Attack 21: k, m, index, length, block and size out of range, a blob claimed as 4 GB, shards that contradict each other.
func TestHostileSender(t *testing.T) {
	for name, msg := range map[string][]byte{
		"nothing":            nil,
		"kind alone":         {KindShard},
		"another kind":       append([]byte{KindReport}, shardMessage(0, nil)[1:]...),
		"cut":                shardMessage(0, nil)[:1000],
		"longer":             append(shardMessage(0, nil), 0),
		"4 GB":               shardMessage(0, func(s *fec.Shard) { s.Length = 1<<32 - 1 }),
		"k":                  shardMessage(0, func(s *fec.Shard) { s.Data = 6 }),
		"k 0":                shardMessage(0, func(s *fec.Shard) { s.Data = 0 }),
		"m":                  shardMessage(0, func(s *fec.Shard) { s.Parity = fec.MaxBlockParity + 1 }),
		"index":              shardMessage(0, func(s *fec.Shard) { s.Index = 7 }),
		"block":              shardMessage(0, func(s *fec.Shard) { s.Block = 1 }),
		"no room for a hash": shardMessage(0, func(s *fec.Shard) { s.Length, s.Data = 31, 1 }),
		"shard of 1152":      shardMessage(0, func(s *fec.Shard) { s.Length, s.Data, s.Size, s.Payload = 1152, 1, 1152, make([]byte, 1152) }),
	} {
		r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Receive(1, msg); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
		if st := r.Stats(); st.Malformed != 1 || st.Shards != 0 || r.Next() != never {
			t.Errorf("%s: %+v", name, st)
		}
	}

	r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Receive(1, shardMessage(0, func(s *fec.Shard) { s.Blob = 2 })); !errors.Is(err, ErrOther) || r.Stats().Other != 1 {
		t.Error(err)
	}
	if err := r.Receive(1, shardMessage(0, nil)); err != nil {
		t.Error(err)
	}
	if err := r.Receive(1, shardMessage(1, func(s *fec.Shard) { s.Length++ })); !errors.Is(err, ErrMessage) {
		t.Errorf("a contradiction: %v", err)
	}
	if ack, _, _ := r.received.Ack(); ack != 0 {
		t.Error("a contradiction was acknowledged")
	}

	// A blob that is too long ends the transfer, and the sender learns of it.
	r, err = NewReceiver(ReceiverConfig{ID: 1, Limit: 4967})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Receive(1, shardMessage(0, nil)); err != nil || !errors.Is(r.Err(), ErrTooLong) {
		t.Errorf("%v %v", err, r.Err())
	}
	var p Report
	if err := ParseReport(r.AppendReport(nil, 2), &p); err != nil || p.State != Refused {
		t.Errorf("%+v %v", p, err)
	}

	// Shards that make no blob: complete by count, refused by their hash.
	r, err = NewReceiver(ReceiverConfig{ID: 1, Limit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := r.Receive(int64(i), shardMessage(ackbits.Seq(i), func(s *fec.Shard) { s.Index = uint8(i) })); err != nil {
			t.Error(err)
		}
	}
	if _, ok := r.Blob(); ok || !errors.Is(r.Err(), ErrSum) {
		t.Errorf("%v", r.Err())
	}
}

// What is claimed allocates nothing: memory follows what arrived.
func TestReceiverMemoryIsBounded(t *testing.T) {
	r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: MaxBlob})
	if err != nil {
		t.Fatal(err)
	}
	e, err := fec.NewBlobEncoder(1, make([]byte, fec.MaxBlob), 0)
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for b := range 20 {
		s, err := e.Shard(b*10, 5)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, AppendShard(nil, ackbits.Seq(b), &s))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 500 {
		for i, m := range messages {
			_ = r.Receive(int64(i), m)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 100_000 {
		t.Errorf("%d bytes allocated for 20 shards", got)
	}
	if st := r.Stats(); st.Duplicate != 20*499 {
		t.Errorf("%+v", st)
	}
}

// Attack 21, the other way round: reports of what was never sent, of blocks there are not, and endless demands.
func TestHostileReceiver(t *testing.T) {
	blob := randomBlob(1, 64<<10)
	s, err := NewSender(Config{ID: 1, Peak: 1 << 30, Rate: 1 << 30, Burst: 1 << 30, InFlight: 1 << 24}, blob, start)
	if err != nil {
		t.Fatal(err)
	}
	report := func(change func(*Report)) []byte {
		r := Report{Blob: 1, Ack: 9, Needs: []fec.Need{{Block: 0, Shards: 30}}}
		if change != nil {
			change(&r)
		}
		return AppendReport(nil, &r)
	}
	if err := s.Receive(start, report(nil)); !errors.Is(err, ErrMessage) {
		t.Errorf("before anything was sent: %v", err)
	}
	now := int64(start)
	for range 20 {
		now += 1000
		if len(s.AppendShard(nil, now)) == 0 {
			t.Fatal("nothing sent")
		}
	}
	before := s.blocks[0]
	for name, c := range map[string]struct {
		msg []byte
		err error
	}{
		"nothing":         {nil, ErrMessage},
		"a shard":         {shardMessage(0, nil), ErrMessage},
		"state 3":         {report(func(r *Report) { r.State = states }), ErrMessage},
		"another blob":    {report(func(r *Report) { r.Blob = 2 }), ErrOther},
		"the next packet": {report(func(r *Report) { r.Ack = 20 }), ErrMessage},
		"half a ring on":  {report(func(r *Report) { r.Ack = 30000 }), ErrMessage},
		"packet -1":       {report(func(r *Report) { r.Ack = 65535 }), ErrMessage},
		"block 1":         {report(func(r *Report) { r.Needs = []fec.Need{{Block: 1, Shards: 1}} }), ErrMessage},
		"more than k":     {report(func(r *Report) { r.Needs = []fec.Need{{Block: 0, Shards: 62}} }), ErrMessage},
		"no needs":        {report(func(r *Report) { r.Needs = nil }), ErrMessage},
		"cut":             {report(nil)[:10], ErrMessage},
		"longer":          {append(report(nil), 0), ErrMessage},
		"a long end":      {append(report(func(r *Report) { r.State = Complete }), 0), ErrMessage},
	} {
		if err := s.Receive(now, c.msg); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.blocks[0] != before || s.Done() || s.Err() != nil || s.stats.Reports != 0 {
		t.Error("a refused report changed something")
	}

	// It acknowledges everything and always needs everything.
	for i := 0; s.Err() == nil && i < 1_000_000; i++ {
		now += 20_000
		for len(s.AppendShard(nil, now)) > 0 {
		}
		msg := report(func(r *Report) {
			r.Ack = ackbits.Seq(uint16(s.flights.next - 1))
			r.Needs[0].Shards = uint8(s.enc.Data(0))
		})
		if err := s.Receive(now, msg); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(s.Err(), ErrGreedy) || s.Stats().Shards > greed*61+64+1 {
		t.Errorf("%v after %d shards", s.Err(), s.Stats().Shards)
	}
}

// No block ever needs more than it did, and an old report changes nothing.
func TestNeedsOnlyShrink(t *testing.T) {
	s, err := NewSender(Config{ID: 1}, randomBlob(1, 200_000), start)
	if err != nil {
		t.Fatal(err)
	}
	now := int64(start)
	for range 30 {
		now += 10_000
		if len(s.AppendShard(nil, now)) == 0 {
			t.Fatal("nothing sent")
		}
	}
	say := func(ack ackbits.Seq, needs ...fec.Need) {
		if err := s.Receive(now, AppendReport(nil, &Report{Blob: 1, Ack: ack, Needs: needs})); err != nil {
			t.Fatal(err)
		}
	}
	k := s.enc.Data(1)
	say(20, fec.Need{Block: 0, Shards: 40}, fec.Need{Block: 1, Shards: uint8(k)}, fec.Need{Block: 2, Shards: uint8(k)})
	say(21, fec.Need{Block: 0, Shards: 50}, fec.Need{Block: 1, Shards: uint8(k)}, fec.Need{Block: 2, Shards: uint8(k)})
	say(5, fec.Need{Block: 1, Shards: 1})
	if s.blocks[0].need != 40 || s.blocks[1].need != k || s.Stats().Stale != 1 {
		t.Errorf("%+v", s.blocks)
	}
	say(22, fec.Need{Block: 1, Shards: 3})
	if s.blocks[0].need != 0 || s.blocks[1].need != 3 || s.blocks[2].need != 0 {
		t.Errorf("%+v", s.blocks)
	}
}

func FuzzReport(f *testing.F) {
	f.Add(AppendReport(nil, &Report{Blob: 3, Ack: 9, Bits: 7, Delay: 4, Needs: []fec.Need{{Block: 0, Shards: 3}, {Block: 9, Shards: 64}}}))
	f.Add(AppendReport(nil, &Report{State: Complete, Blob: 3, Ack: 9}))
	f.Add(AppendReport(nil, &Report{State: Refused, Blob: 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Report
		if ParseReport(b, &r) != nil {
			return
		}
		if again := AppendReport(nil, &r); !bytes.Equal(again, b) {
			t.Fatalf("% x became % x", b, again)
		}
	})
}

func FuzzShard(f *testing.F) {
	f.Add(shardMessage(77, nil))
	f.Add(shardMessage(0, func(s *fec.Shard) {
		s.Length, s.Size, s.Data, s.Index, s.Payload = 100, 128, 1, 2, make([]byte, 128)
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s fec.Shard
		seq, err := ParseShard(b, &s)
		if err != nil {
			return
		}
		if again := AppendShard(nil, seq, &s); !bytes.Equal(again, b) {
			t.Fatalf("% x became % x", b, again)
		}
	})
}
