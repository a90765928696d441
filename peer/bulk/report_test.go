package bulk

import (
	"testing"

	"backstep/ackbits"
	"backstep/fec"
)

// Reports come after eight shards or ten milliseconds, and carry how long the newest shard has waited.
func TestWhenReportsAreDue(t *testing.T) {
	r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	shard := func(at int64, i int) {
		if err := r.Receive(at, shardMessage(ackbits.Seq(i), func(s *fec.Shard) { s.Length, s.Data, s.Index = 64<<10, 64, uint8(i) })); err != nil {
			t.Fatal(err)
		}
	}
	if r.Next() != never || len(r.AppendReport(nil, 1_000_000)) != 0 {
		t.Error("a report of nothing")
	}
	at := int64(1_000_000)
	shard(at, 0)
	shard(at+4000, 2)
	if r.Next() != at+reportDelay || len(r.AppendReport(nil, at+reportDelay-1)) != 0 {
		t.Errorf("due at %d", r.Next()-at)
	}
	var p Report
	if err := ParseReport(r.AppendReport(nil, at+reportDelay), &p); err != nil {
		t.Fatal(err)
	}
	if p.Ack != 2 || p.Bits != 0b10 || p.Delay != 6000/delayUnit || len(p.Needs) != 1 || p.Needs[0] != (fec.Need{Block: 0, Shards: 62}) {
		t.Errorf("%+v", p)
	}
	if r.Next() != never {
		t.Error("a second report of the same")
	}
	for i := range reportShards {
		if r.Next() <= at+20_000 {
			t.Errorf("due after %d shards", i)
		}
		shard(at+20_000, 3+i)
	}
	if r.Next() != at+20_000 {
		t.Errorf("after eight shards due at %d", r.Next()-at)
	}
	// A shard that comes again, or too late to be acknowledged, is reported on all the same: its sender waits for news.
	if err := ParseReport(r.AppendReport(nil, at+20_000), &p); err != nil || p.Ack != 10 {
		t.Fatalf("%+v %v", p, err)
	}
	shard(at+30_000, 3)
	if st := r.Stats(); st.Duplicate != 1 || r.Next() != at+30_000+reportDelay {
		t.Errorf("%+v", st)
	}
}

// The last report goes out three times, and once more for every shard that still comes.
func TestLastReportIsRepeated(t *testing.T) {
	s, err := NewSender(Config{ID: 1}, randomBlob(1, 100), start)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	msg := s.AppendShard(nil, start)
	at := int64(start + 40_000)
	if err := r.Receive(at, msg); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Blob(); !ok {
		t.Fatal("one shard is the whole blob")
	}
	var times []int64
	for now := at; now < at+1_000_000; now += 1000 {
		if len(r.AppendReport(nil, now)) > 0 {
			times = append(times, now-at)
		}
	}
	if len(times) != reportCopies || times[0] != 0 || times[1] != copySpacing || times[2] != 2*copySpacing {
		t.Errorf("%v", times)
	}
	if err := r.Receive(at+2_000_000, msg); err != nil || r.Next() != at+2_000_000 {
		t.Errorf("%v, due at %d", err, r.Next()-at)
	}
	if len(r.AppendReport(nil, at+2_000_000)) == 0 || r.Next() != never {
		t.Error("no answer to a late shard")
	}
}

// What expired and was asked for once more is taken back when a late report says that it had arrived.
func TestWhatIsNotNeededIsTakenBack(t *testing.T) {
	s, err := NewSender(Config{ID: 1, Loss: 50_000, RTT: 150_000}, randomBlob(1, 30_000), start)
	if err != nil {
		t.Fatal(err)
	}
	now := int64(start)
	for range 1000 {
		now += 1000
		s.AppendShard(nil, now)
	}
	if k := s.enc.Data(0); s.blocks[0].extra < k-1 {
		t.Fatalf("after a second of silence %d of %d are asked for again: %+v", s.blocks[0].extra, k, s.Stats())
	}
	last := ackbits.Seq(uint16(s.flights.next - 1))
	if err := s.Receive(now, AppendReport(nil, &Report{Blob: 1, Ack: last, Needs: []fec.Need{{Block: 0, Shards: 2}}})); err != nil {
		t.Fatal(err)
	}
	if want := 2 + fec.ParityFor(2, s.loss); s.blocks[0].extra != want {
		t.Errorf("%d shards wait for a block that needs 2, want %d", s.blocks[0].extra, want)
	}
}
