package fec

import "github.com/klauspost/reedsolomon"

// Block accumulates parity rows of one block of k data shards, shard by shard.
// Rows first … first+n-1 of the Cauchy code are made; a row does not depend on
// how many others there are, so rows can be added later by another Block.
type Block struct {
	code   reedsolomon.Encoder
	k      int
	parity [][]byte
}

// NewBlock returns a Block for k data shards (1 to MaxData) of size bytes (a
// multiple of ShardUnit up to MaxShard) that makes n parity rows from row first
// on; first+n is at most MaxBlockParity. It allocates the rows and the code.
func NewBlock(k, first, n, size int) (*Block, error) {
	if size < ShardUnit || size > MaxShard || size%ShardUnit != 0 {
		return nil, ErrShardSize
	}
	if first < 0 || n < 1 || first+n > MaxBlockParity {
		return nil, ErrParityBound
	}
	if k < 1 || k > MaxData {
		return nil, ErrNoShard
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = first + i
	}
	code, err := newCode(k, rows)
	if err != nil {
		return nil, err
	}
	b := &Block{code: code, k: k, parity: make([][]byte, n)}
	all := make([]byte, n*size)
	for i := range b.parity {
		b.parity[i] = all[i*size : (i+1)*size : (i+1)*size]
	}
	return b, nil
}

// newCode returns the code with k data shards and only the given parity rows.
// Row r is row k+r of the library's Cauchy matrix: 1/((k+r) ⊕ column).
func newCode(k int, rows []int) (reedsolomon.Encoder, error) {
	matrix := make([][]byte, len(rows))
	for i, r := range rows {
		matrix[i] = make([]byte, k)
		for c := range k {
			matrix[i][c] = reedsolomon.Inv(byte((k + r) ^ c))
		}
	}
	return reedsolomon.New(k, len(rows),
		reedsolomon.WithCustomMatrix(matrix), reedsolomon.WithMaxGoroutines(1), reedsolomon.WithInversionCache(false))
}

// Encode adds data shard i, once for each i. The shard has the Block's size. It
// does not allocate and does not keep the shard.
func (b *Block) Encode(i int, shard []byte) error {
	if i < 0 || i >= b.k {
		return ErrNoShard
	}
	if len(shard) != len(b.parity[0]) {
		return ErrShardSize
	}
	return b.code.EncodeIdx(shard, i, b.parity)
}

// Row returns the i-th row made, counted from first. It is complete when all k
// data shards have been added, and valid until Reset.
func (b *Block) Row(i int) []byte { return b.parity[i] }

// Reset zeroes the rows for another block of the same shape.
func (b *Block) Reset() {
	for _, p := range b.parity {
		clear(p)
	}
}
