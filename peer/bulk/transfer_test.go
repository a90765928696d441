package bulk

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"backstep/rollback/wire"
)

// Any blob over any road that lets something through arrives whole; nothing sent is ever too much.
func TestAnyBlobArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		size := rapid.OneOf(rapid.IntRange(0, 3000), rapid.IntRange(0, 200_000)).Draw(t, "size")
		blob := randomBlob(seed, size)
		rng := rand.New(rand.NewPCG(seed, 1))
		draw := func(name string) *road {
			r := &road{
				rng:    rng,
				delay:  rapid.Int64Range(0, 200_000).Draw(t, name+" delay"),
				jitter: rapid.Int64Range(0, 60_000).Draw(t, name+" jitter"),
				loss:   rapid.Float64Range(0, 0.3).Draw(t, name+" loss"),
				dup:    rapid.Float64Range(0, 0.2).Draw(t, name+" copies"),
			}
			if rapid.Bool().Draw(t, name+" bursts") {
				r.burst = [2]int64{1_000_000, 100_000}
			}
			return r
		}
		c := Config{
			ID:    rapid.Uint16().Draw(t, "id"),
			Loss:  rapid.Uint32Range(0, 400_000).Draw(t, "told loss"),
			RTT:   rapid.Int64Range(0, 500_000).Draw(t, "told round trip"),
			Shard: 64 * rapid.IntRange(1, 17).Draw(t, "shard"),
		}
		s, err := NewSender(c, blob, start)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReceiver(ReceiverConfig{ID: c.ID, Limit: max(size, 1)})
		if err != nil {
			t.Fatal(err)
		}
		x := &transfer{s: s, r: r, to: draw("there"), from: draw("back"), now: start}
		if err := x.run(600_000_000); err != nil {
			t.Fatal(err)
		}
		if err := x.check(blob); err != nil {
			t.Fatal(err)
		}
		if x.peak > DefaultInFlight {
			t.Fatalf("%d bytes in flight", x.peak)
		}
		if st := x.r.Stats(); st.Malformed+st.Other != 0 {
			t.Fatalf("%+v", st)
		}
		if st := x.s.Stats(); st.Refused != 0 {
			t.Fatalf("%+v", st)
		}
	})
}

// Bytes in flight are capped, peak and rate are kept, and beside 120 input packets a second nothing is more than a relay
// forwards for one side (96 KB/s and 300 packets/s with one second of burst).
func TestPacingKeepsWithinARelay(t *testing.T) {
	for _, c := range [][2]int{{2000, 0}, {20_000, 0}, {64 << 10, 0}, {400_000, 0}, {30_000, 64}, {100_000, 192}} {
		size := c[0]
		blob := randomBlob(2, size)
		to, from := roads(1, 60_000, 0.02)
		x := newTransfer(t, Config{ID: 1, Loss: 20_000, RTT: 60_000, Shard: c[1]}, blob, to, from)
		if err := x.run(60_000_000); err != nil {
			t.Fatal(err)
		}
		if x.peak > DefaultInFlight {
			t.Errorf("%d bytes in flight", x.peak)
		}
		// The relay's two buckets, as the time at which each is full again.
		var packets, bytes int64
		take := func(full *int64, at, n, rate int64) bool {
			*full = max(*full, at) + n*1_000_000/rate
			return *full-at <= 1_000_000
		}
		input := int64(start)
		for _, d := range to.sizes {
			for ; input <= d.at; input += 8333 {
				take(&packets, input, 1, 300)
				take(&bytes, input, 90, 96<<10)
			}
			if okP, okB := take(&packets, d.at, 1, 300), take(&bytes, d.at, d.size, 96<<10); !okP || !okB {
				t.Fatalf("%d bytes: a relay would drop packets after %d µs", size, d.at-start)
			}
		}
		for i := range to.sizes {
			for j := i + 1; j < len(to.sizes); j++ {
				span := to.sizes[j].at - to.sizes[i].at
				if span > 100_000 {
					break
				}
				if n := int64(j - i); n*to.sizes[i].size > DefaultPeak*(span+lag)/1_000_000+to.sizes[i].size {
					t.Fatalf("%d packets within %d µs", n, span)
				}
			}
		}
	}
}

// When loss and round trip rise together, rate and redundancy are cut: behind a bottleneck far below the peak the transfer
// takes about what the bottleneck allows, and the queue, in which inputs would wait too, does not stay full.
func TestCongestion(t *testing.T) {
	blob := randomBlob(3, 300_000)
	for _, bottleneck := range []int64{40_000, 100_000} {
		to, from := roads(7, 60_000, 0)
		to.rate, to.queue = bottleneck, 30_000
		x := newTransfer(t, Config{ID: 1, RTT: 60_000, Rate: DefaultPeak, Burst: 1 << 20}, blob, to, from)
		if err := x.run(60_000_000); err != nil {
			t.Fatal(err)
		}
		if err := x.check(blob); err != nil {
			t.Fatal(err)
		}
		st := x.s.Stats()
		ideal := micros(int64(len(blob)), to.rate)
		waited := float64(to.waits) / float64(to.sent) / 1000
		t.Logf("%d KB/s: %.1f s, bottleneck %.1f s, %d of %d lost, %.0f ms in the queue, %d cuts, %.2f times the bytes", bottleneck/1000,
			float64(x.complete)/1e6, float64(ideal)/1e6, to.lost, to.sent, waited, st.Cuts, float64(st.ShardBytes)/float64(len(blob)))
		if st.Cuts == 0 || x.complete > 2*ideal {
			t.Errorf("took %d µs, the bottleneck allows %d; %d cuts", x.complete, ideal, st.Cuts)
		}
		if share := float64(to.lost) / float64(to.sent); share > 0.15 {
			t.Errorf("%.0f %% of what was sent overflowed the queue", share*100)
		}
		if full := float64(micros(to.queue, to.rate)) / 1000; waited > full*0.4 {
			t.Errorf("shards waited %.0f ms in the mean, the queue holds %.0f", waited, full)
		}
	}

	// Loss and jitter without a queue are no congestion.
	to, from := roads(7, 60_000, 0.15)
	to.jitter, from.jitter = 30_000, 30_000
	x := newTransfer(t, Config{ID: 1, RTT: 60_000}, blob, to, from)
	if err := x.run(60_000_000); err != nil {
		t.Fatal(err)
	}
	if st := x.s.Stats(); st.Cuts != 0 {
		t.Errorf("%d cuts without a queue", st.Cuts)
	}
}

// A path that is gone for two seconds: probes, no flood, and the transfer goes on where it was.
func TestOutage(t *testing.T) {
	blob := randomBlob(4, 64<<10)
	for name, both := range map[string]bool{"both ways": true, "the way back": false} {
		to, from := roads(5, 80_000, 0.05)
		out := func(now int64) bool { return now > start+100_000 && now < start+2_100_000 }
		from.cut = out
		if both {
			to.cut = out
		}
		x := newTransfer(t, Config{ID: 1, Loss: 50_000, RTT: 80_000}, blob, to, from)
		if err := x.run(20_000_000); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := x.check(blob); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		during := 0
		for _, d := range to.sizes {
			if d.at > start+900_000 && d.at < start+2_100_000 {
				during++
			}
		}
		if st := x.s.Stats(); during > 4 || st.Probes == 0 {
			t.Errorf("%s: %d shards into the silence, %+v", name, during, st)
		}
		if both && x.complete > 3_500_000 {
			t.Errorf("%s: complete after %d µs", name, x.complete)
		}
	}
}

// Nobody answers: a bounded number of shards, then ErrSilent.
func TestSilence(t *testing.T) {
	blob := randomBlob(5, 64<<10)
	to, from := roads(1, 80_000, 1)
	x := newTransfer(t, Config{ID: 1, RTT: 80_000}, blob, to, from)
	if err := x.run(60_000_000); !errors.Is(err, ErrSilent) {
		t.Fatal(err)
	}
	if took := x.now - start; took < DefaultTimeout || took > DefaultTimeout+1_000_000 {
		t.Errorf("gave up after %d µs", took)
	}
	if to.sent > 150 {
		t.Errorf("%d shards to nobody", to.sent)
	}
	if x.s.Next(x.now) != never || len(x.s.AppendShard(nil, x.now)) != 0 {
		t.Error("it goes on after the end")
	}
}

// The last report is lost, many times over.
func TestLostEnd(t *testing.T) {
	blob := randomBlob(6, 5000)
	to, from := roads(1, 40_000, 0)
	x := newTransfer(t, Config{ID: 1, RTT: 40_000}, blob, to, from)
	from.cut = func(now int64) bool { return now < start+1_500_000 }
	if err := x.run(5_000_000); err != nil {
		t.Fatal(err)
	}
	if err := x.check(blob); err != nil {
		t.Fatal(err)
	}
	if x.complete > 100_000 || to.sent > 40 {
		t.Errorf("complete after %d µs, %d shards", x.complete, to.sent)
	}
}

// A message fits a wire packet, with the kind byte of the message that it is.
func TestMessagesFitPackets(t *testing.T) {
	s, err := NewSender(Config{ID: 1, Loss: 100_000}, randomBlob(1, 64<<10), start)
	if err != nil {
		t.Fatal(err)
	}
	msg := s.AppendShard(nil, start)
	if len(msg) != MaxMessage {
		t.Errorf("a shard message has %d bytes", len(msg))
	}
	b := wire.AppendFull(nil, &wire.Packet{Newest: -1, Message: msg})
	if len(b) == 0 || len(b)+1+29+5 != len(msg)+DefaultOverhead {
		t.Errorf("a packet of %d bytes around %d", len(b), len(msg))
	}
	if b := wire.AppendFull(nil, &wire.Packet{Newest: -1, Message: make([]byte, MaxMessage)}); len(b) == 0 {
		t.Error("the longest message fits no packet")
	}
}

func TestTheWantedBlobOnly(t *testing.T) {
	blob := randomBlob(7, 3000)
	for _, same := range []bool{true, false} {
		sum := sha256.Sum256(blob)
		if !same {
			sum[0]++
		}
		s, err := NewSender(Config{ID: 1}, blob, start)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReceiver(ReceiverConfig{ID: 1, Limit: 3000, Sum: &sum})
		if err != nil {
			t.Fatal(err)
		}
		to, from := roads(1, 40_000, 0)
		err = (&transfer{s: s, r: r, to: to, from: from, now: start}).run(5_000_000)
		if _, ok := r.Blob(); ok != same || (err == nil) != same {
			t.Errorf("same %v: %v %v", same, ok, err)
		}
		if !same && (!errors.Is(err, ErrRefused) || !errors.Is(r.Err(), ErrSum)) {
			t.Errorf("%v, %v", err, r.Err())
		}
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]Config{
		"peak": {Peak: 10}, "rate": {Rate: -1}, "burst": {Burst: 100}, "in flight": {InFlight: 1000}, "overhead": {Overhead: 5000},
		"shard": {Shard: 100}, "long shard": {Shard: 1152}, "round trip": {RTT: -1}, "timeout": {Timeout: -1}, "loss": {Loss: 1_000_001},
	} {
		if _, err := NewSender(c, nil, 0); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewSender(Config{}, make([]byte, MaxBlob+1), 0); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	for _, limit := range []int{0, -1, MaxBlob + 1} {
		if _, err := NewReceiver(ReceiverConfig{Limit: limit}); !errors.Is(err, ErrConfig) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
