package fec

// BlobEncoder cuts a blob into shards and makes parity for them, at first and
// whenever more is asked for.
type BlobEncoder struct {
	id     uint16
	blob   []byte
	layout layout
	last   []byte // the last data shard, padded
	parity []blockRows
	stats  BlobEncoderStats
}

// blockRows are the parity rows of one block.
type blockRows struct {
	rows   [][]byte
	repeat int // shards repeated after parity ran out
}

// BlobEncoderStats are the counts of a [BlobEncoder] since its start, in shards.
type BlobEncoderStats struct {
	Data     uint64 // data shards handed out
	Parity   uint64 // parity shards handed out
	Made     uint64 // parity rows made
	Repeated uint64 // indexes given out again because parity had run out
}

// NewBlobEncoder prepares blob for sending under the given id in shards of at
// most largest bytes (0 is DefaultShard). It keeps blob, which must not change,
// and makes no parity yet.
func NewBlobEncoder(id uint16, blob []byte, largest int) (*BlobEncoder, error) {
	if largest == 0 {
		largest = DefaultShard
	}
	if largest < ShardUnit || largest > MaxShard || largest%ShardUnit != 0 {
		return nil, ErrShardSize
	}
	if len(blob) > MaxBlob {
		return nil, ErrBlobTooLong
	}
	l := newLayout(len(blob), ShardSize(len(blob), largest))
	e := &BlobEncoder{id: id, blob: blob, layout: l, last: make([]byte, l.size), parity: make([]blockRows, l.blocks)}
	copy(e.last, blob[(l.shards-1)*l.size:])
	return e, nil
}

// Blocks is the number of blocks.
func (e *BlobEncoder) Blocks() int { return e.layout.blocks }

// Data is the number of data shards of block b.
func (e *BlobEncoder) Data(b int) int { return e.layout.data(b) }

// Parity is the number of parity rows of block b made so far.
func (e *BlobEncoder) Parity(b int) int { return len(e.parity[b].rows) }

// ShardSize is the size of every shard, in bytes.
func (e *BlobEncoder) ShardSize() int { return e.layout.size }

// Grow makes n more parity rows for block b and returns the index of the first.
// If there may not be that many, it returns ErrParityBound and makes none.
func (e *BlobEncoder) Grow(b, n int) (first int, err error) {
	if b < 0 || b >= e.layout.blocks {
		return 0, ErrNoShard
	}
	p, k := &e.parity[b], e.layout.data(b)
	first = k + len(p.rows)
	if n <= 0 {
		return first, nil
	}
	block, err := NewBlock(k, len(p.rows), n, e.layout.size)
	if err != nil {
		return 0, err
	}
	for i := range k {
		if err := block.Encode(i, e.shard(b, i)); err != nil {
			return 0, err
		}
	}
	for i := range n {
		p.rows = append(p.rows, block.Row(i))
	}
	e.stats.Made += uint64(n)
	return first, nil
}

// Extra appends to dst the indexes of n shards of block b to send beyond those
// of before: fresh parity while there may be more, then all shards once more in
// turn, so that no block is ever stuck. n is limited to the block's k.
func (e *BlobEncoder) Extra(dst []uint8, b, n int) ([]uint8, error) {
	if b < 0 || b >= e.layout.blocks {
		return dst, ErrNoShard
	}
	p, k := &e.parity[b], e.layout.data(b)
	n = min(n, k)
	fresh := min(n, MaxBlockParity-len(p.rows))
	first, err := e.Grow(b, fresh)
	if err != nil {
		return dst, err
	}
	for i := range max(fresh, 0) {
		dst = append(dst, uint8(first+i))
	}
	for range n - fresh {
		dst = append(dst, uint8(p.repeat%(k+len(p.rows))))
		p.repeat++
		e.stats.Repeated++
	}
	return dst, nil
}

// Shard returns shard index of block b. Its payload points into the blob or the
// encoder.
func (e *BlobEncoder) Shard(b, index int) (Shard, error) {
	if b < 0 || b >= e.layout.blocks || index < 0 || index >= e.Data(b)+e.Parity(b) {
		return Shard{}, ErrNoShard
	}
	k := e.layout.data(b)
	s := Shard{
		Blob: e.id, Length: uint32(len(e.blob)), Size: uint16(e.layout.size), Block: uint16(b),
		Data: uint8(k), Parity: uint8(e.Parity(b)), Index: uint8(index),
	}
	if index < k {
		s.Payload = e.shard(b, index)
		e.stats.Data++
	} else {
		s.Payload = e.parity[b].rows[index-k]
		e.stats.Parity++
	}
	return s, nil
}

// shard is data shard i of block b.
func (e *BlobEncoder) shard(b, i int) []byte {
	n := e.layout.first(b) + i
	if n == e.layout.shards-1 {
		return e.last
	}
	return e.blob[n*e.layout.size : (n+1)*e.layout.size]
}

// Stats returns the counts so far.
func (e *BlobEncoder) Stats() BlobEncoderStats { return e.stats }
