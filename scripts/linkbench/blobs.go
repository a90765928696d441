package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"backstep/fec"
	"backstep/peer/bulk"
	"backstep/scripts/flight"
)

// What plain retransmission is given: the pacing of bulk, its headers, and acknowledgements that are never lost.
const (
	plainHead = 16     // bytes before a shard
	plainWait = 10_000 // µs until an acknowledgement leaves
)

// blobReport is the transfer of one size at one loss, round trip 150 ms: times in ms, bytes of shards over bytes of the blob.
type blobReport struct {
	KB         int     `json:"kb"`
	Loss       float64 `json:"loss"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	Bytes      float64 `json:"bytes"`
	PlainP50   float64 `json:"plain_p50_ms"`
	PlainP99   float64 `json:"plain_p99_ms"`
	PlainBytes float64 `json:"plain_bytes"`
}

func runBlobs(size int, loss float64, seed uint64, n int) (blobReport, error) {
	blob := make([]byte, size)
	rng := rand.New(rand.NewPCG(seed, 5))
	for i := range blob {
		blob[i] = byte(rng.Uint32())
	}
	var coded, plain []int64
	var codedBytes, plainBytes int64
	road := network{delay: oneWay, loss: loss}
	for i := range n {
		took, bytes, err := transfer(blob, road, seed+uint64(i)*7919)
		if err != nil {
			return blobReport{}, err
		}
		coded, codedBytes = append(coded, took), codedBytes+bytes
		took, bytes = retransmission(size, road, seed+uint64(i)*7919)
		plain, plainBytes = append(plain, took), plainBytes+bytes
	}
	at := func(times []int64, q float64) float64 {
		slices.Sort(times)
		return round(float64(times[min(int(q*float64(len(times))), len(times)-1)]) / 1000)
	}
	share := func(bytes int64) float64 { return round(float64(bytes) / float64(size) / float64(n)) }
	return blobReport{
		KB: size >> 10, Loss: loss,
		P50: at(coded, .5), P99: at(coded, .99), Bytes: share(codedBytes),
		PlainP50: at(plain, .5), PlainP99: at(plain, .99), PlainBytes: share(plainBytes),
	}, nil
}

// transfer sends a blob in blocks and returns when it was there, µs, and the bytes of all shards.
func transfer(blob []byte, n network, seed uint64) (took, bytes int64, err error) {
	const start = second
	to, from := newRoad(n, seed), newRoad(n, seed+1000)
	s, err := bulk.NewSender(bulk.Config{ID: 1, Loss: uint32(n.loss * 1e6), RTT: 2 * n.delay}, blob, start)
	if err != nil {
		return 0, 0, err
	}
	r, err := bulk.NewReceiver(bulk.ReceiverConfig{ID: 1, Limit: len(blob)})
	if err != nil {
		return 0, 0, err
	}
	for now := int64(start); !s.Done(); {
		if err := to.Deliver(now, func(at int64, b []byte) error {
			err := r.Receive(at, b)
			if _, ok := r.Blob(); ok && took == 0 {
				took = at - start
			}
			return err
		}); err != nil {
			return 0, 0, err
		}
		if err := from.Deliver(now, s.Receive); err != nil {
			return 0, 0, err
		}
		for b := s.AppendShard(nil, now); len(b) > 0; b = s.AppendShard(nil, now) {
			to.send(now, b, below)
		}
		if b := r.AppendReport(nil, now); len(b) > 0 {
			from.send(now, b, below)
		}
		if s.Err() != nil {
			return 0, 0, s.Err()
		}
		if now-start > 60*second {
			return 0, 0, fmt.Errorf("not done after a minute: %+v", s.Stats())
		}
		now = max(min(s.Next(now), r.Next(), to.Next(), from.Next()), now+1)
	}
	return took, int64(s.Stats().ShardBytes), nil
}

// retransmission sends the same shards without parity at the same pace, and each again when its acknowledgement is overdue.
func retransmission(size int, n network, seed uint64) (took, bytes int64) {
	out := newRoad(n, seed)
	shard := fec.ShardSize(size, fec.DefaultShard)
	gap := int64(plainHead+shard+bulk.DefaultOverhead) * second / bulk.DefaultPeak
	timeout := 2*n.delay + int64(tick) + 2*plainWait
	type piece struct{ due, acked int64 } // when to send it (again), and when its acknowledgement is here
	pieces := make([]piece, (size+shard-1)/shard)
	for i := range pieces {
		pieces[i].acked = flight.Never
	}
	missing := len(pieces)
	for now := int64(0); ; now += gap {
		for i := range pieces {
			p := &pieces[i]
			if p.due > now || p.acked <= now {
				continue
			}
			bytes += int64(shard)
			p.due = now + timeout
			if delay, lost := out.fate(now); !lost && p.acked == flight.Never {
				p.acked = now + 2*delay + plainWait
				if missing--; missing == 0 {
					return now + delay, bytes
				}
			}
			break
		}
	}
}
