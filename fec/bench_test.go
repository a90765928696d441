package fec

import (
	"math/rand/v2"
	"testing"
)

// small is the size of a compact input packet.
const small = 32

func smallPackets(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([][]byte, n)
	for i := range out {
		out[i] = randomBlob(rng, small)
	}
	return out
}

func TestNoAllocations(t *testing.T) {
	pkts := smallPackets(4)
	for rows := 1; rows <= MaxParity; rows++ {
		e, d := new(Encoder), new(Decoder)
		e.Set(Params{Parity: rows})
		buf := make([]byte, 0, MaxParityPayload)
		rebuilt := 0
		group := func() {
			for i, p := range pkts {
				g := e.Next()
				if err := e.Add(p); err != nil {
					t.Fatal(err)
				}
				if i >= rows {
					d.AddData(g, p)
				}
				e.Tick()
			}
			for {
				b, g, ok := e.Parity(buf[:0])
				if !ok {
					break
				}
				rebuilt += len(d.AddParity(g, b))
			}
		}
		if n := testing.AllocsPerRun(200, group); n != 0 {
			t.Errorf("%d parity: %v allocations a group", rows, n)
		}
		if rebuilt < 200*rows {
			t.Errorf("%d parity: rebuilt %d", rows, rebuilt)
		}
	}
}

func TestBlockEncodesWithoutAllocation(t *testing.T) {
	for _, c := range []struct{ k, m, size int }{{8, 3, 1024}, {31, 5, 1088}, {61, 14, 1088}, {57, 42, 1152}, {64, 128, 1152}, {1, 1, 64}} {
		b, err := NewBlock(c.k, 0, c.m, c.size)
		if err != nil {
			t.Fatal(err)
		}
		shard := make([]byte, c.size)
		if n := testing.AllocsPerRun(10, func() {
			b.Reset()
			for i := range c.k {
				if err := b.Encode(i, shard); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations a block", c, n)
		}
	}
}

// The sender's cost for each data packet of a stream, its share of the parity
// included.
func benchmarkEncode(b *testing.B, rows int) {
	pkts := smallPackets(4)
	e := new(Encoder)
	e.Set(Params{Parity: rows})
	buf := make([]byte, 0, MaxParityPayload)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		e.Next()
		e.Add(pkts[i&3])
		e.Tick()
		for e.Pending() > 0 {
			e.Parity(buf[:0])
		}
		i++
	}
}

func BenchmarkEncodeXOR(b *testing.B) { benchmarkEncode(b, 1) }
func BenchmarkEncodeRS2(b *testing.B) { benchmarkEncode(b, 2) }

// The receiver's cost for each data packet when nothing is lost.
func BenchmarkDecodeNoLoss(b *testing.B) {
	pkts := smallPackets(4)
	e, d := new(Encoder), new(Decoder)
	buf := make([]byte, 0, MaxParityPayload)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		g := e.Next()
		e.Add(pkts[i&3])
		d.AddData(g, pkts[i&3])
		if p, g, ok := e.Parity(buf[:0]); ok {
			d.AddParity(g, p)
		}
		i++
	}
}

// A whole group of four small packets at the receiver, with one or two of them
// lost and rebuilt.
func benchmarkReconstruct(b *testing.B, lost int) {
	pkts := smallPackets(4)
	e, d := new(Encoder), new(Decoder)
	e.Set(Params{Parity: lost})
	data, parity := encodeGroup(e, pkts...)
	d.rows = lost
	b.ReportAllocs()
	rebuilt := 0
	var id uint16
	for b.Loop() {
		for _, p := range data[lost:] {
			p.g.ID = id
			p.to(d)
		}
		for _, p := range parity {
			p.g.ID = id
			rebuilt += len(p.to(d))
		}
		id++
	}
	if s := d.Stats(); rebuilt == 0 || s.Recovered != s.Parity {
		b.Fatalf("%+v", s)
	}
}

func BenchmarkReconstructXOR(b *testing.B) { benchmarkReconstruct(b, 1) }
func BenchmarkReconstructRS2(b *testing.B) { benchmarkReconstruct(b, 2) }

// A 64 KB snapshot: 61 shards of 1088 bytes and 14 of parity, 14 of them lost.
func BenchmarkBlob64K(b *testing.B) {
	blob := randomBlob(rand.New(rand.NewPCG(1, 1)), 64<<10)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(64 << 10)
		b.ReportAllocs()
		for b.Loop() {
			e, _ := NewBlobEncoder(1, blob, 0)
			e.Grow(0, 14)
		}
	})
	b.Run("block", func(b *testing.B) {
		block, _ := NewBlock(61, 0, 14, 1088)
		e, _ := NewBlobEncoder(1, blob, 0)
		b.SetBytes(64 << 10)
		b.ReportAllocs()
		for b.Loop() {
			block.Reset()
			for i := range 61 {
				block.Encode(i, e.shard(0, i))
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		e, _ := NewBlobEncoder(1, blob, 0)
		e.Grow(0, 14)
		var shards []Shard
		for i := 14; i < 75; i++ {
			s, _ := e.Shard(0, i)
			shards = append(shards, s)
		}
		d := NewBlobDecoder(1 << 20)
		b.SetBytes(64 << 10)
		b.ReportAllocs()
		for b.Loop() {
			d.Reset()
			for i := range shards {
				d.Add(&shards[i])
			}
		}
		if _, err := d.AppendBlob(nil); err != nil {
			b.Fatal(err)
		}
	})
}
