package bulk

import (
	"slices"
	"testing"

	"backstep/fec"
)

type result struct {
	p50, p99, mean float64 // ms, ms, bytes of shards over bytes of blob
}

func summary(times []int64, bytes int64, blob int) result {
	slices.Sort(times)
	at := func(q float64) float64 { return float64(times[min(int(q*float64(len(times))), len(times)-1)]) / 1000 }
	return result{at(0.5), at(0.99), float64(bytes) / float64(blob) / float64(len(times))}
}

func measure(t *testing.T, runs int, size int, rtt int64, loss float64) result {
	t.Helper()
	blob := randomBlob(1, size)
	var times []int64
	var bytes int64
	for seed := range uint64(runs) {
		to, from := roads(seed, rtt, loss)
		x := newTransfer(t, Config{ID: 1, Loss: uint32(loss * 1e6), RTT: rtt}, blob, to, from)
		if err := x.run(20_000_000); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := x.check(blob); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		times = append(times, x.complete)
		bytes += int64(x.s.Stats().ShardBytes)
	}
	return summary(times, bytes, size)
}

// Targets, Transport: a snapshot of 64 KB at 10 % loss and a round trip of 150 ms, in at most 355 ms for half and 385 ms
// for 99 of 100, at no more than 1.25 times its bytes. G-03 for bulk.
// scripts/linkbench sets it beside plain retransmission.
func TestSnapshotTarget(t *testing.T) {
	const runs, size, rtt, loss = 600, 64 << 10, 150_000, 0.1
	got := measure(t, runs, size, rtt, loss)
	t.Logf("p50 %.0f ms, p99 %.0f ms, %.3f times the bytes", got.p50, got.p99, got.mean)
	if got.p50 > 355 || got.p99 > 385 || got.mean > 1.25 {
		t.Errorf("p50 %.0f ms, p99 %.0f ms, %.3f times the bytes", got.p50, got.p99, got.mean)
	}
}

// The other sizes and losses of the benchmark: parity costs what the table says and hardly anything more, and 99 of 100
// transfers need one round.
func TestFirstRoundsSuffice(t *testing.T) {
	for _, size := range []int{8 << 10, 16 << 10, 64 << 10} {
		for _, loss := range []float64{0, 0.01, 0.05, 0.1, 0.2} {
			const rtt, runs = 80_000, 60
			got := measure(t, runs, size, rtt, loss)
			shard := fec.ShardSize(size+32, fec.DefaultShard)
			k := (size + 32 + shard - 1) / shard
			m := fec.ParityFor(k, uint32(loss*1e6))
			round := float64(k+m) * float64(shard) / float64(size)
			gap := float64(micros(int64(shardHead+fec.ShardHeader+shard+DefaultOverhead), DefaultPeak)) / 1000
			if got.mean > round*1.03 {
				t.Errorf("%d KB at %.0f %%: %.3f times the bytes, one round is %.3f", size>>10, loss*100, got.mean, round)
			}
			// The last shard of the round, and what wakes late.
			if limit := float64(k+m)*gap + rtt/2000 + 5; got.p50 > limit {
				t.Errorf("%d KB at %.0f %%: half took more than %.0f ms, a round is %.0f", size>>10, loss*100, got.p50, limit)
			}
		}
	}
}
