package fec

// BlobDecoder puts a blob together from its shards. It takes the blob of the
// first shard it is given; shards of others are refused. Memory is allocated for
// shards that arrived, never for what a header claims, and freed by Reset. The
// code corrects losses, not lies: what the blob means is for the caller to check,
// by its hash.
type BlobDecoder struct {
	limit  int
	began  bool
	id     uint16
	length int
	layout layout
	blocks map[uint16]*blockShards // blocks of which any shard arrived
	open   int                     // blocks not complete
	spare  [][]byte
	stats  BlobDecoderStats
}

type blockShards struct {
	data [][]byte // k of them; nil: missing
	rows []parityRow
	have int
	done bool
}

type parityRow struct {
	row   int
	shard []byte
}

// BlobDecoderStats are the counts of a [BlobDecoder] since its start, in shards.
type BlobDecoderStats struct {
	Data      uint64 // data shards accepted
	Parity    uint64 // parity shards accepted
	Recovered uint64 // data shards rebuilt
	Wasted    uint64 // parity shards that were not needed
	Duplicate uint64 // shards that came again, or late
	Other     uint64 // shards of another blob
	Malformed uint64 // shards whose header is impossible or contradicts the first
}

// NewBlobDecoder returns a decoder for a blob of at most limit bytes (at most
// MaxBlob).
func NewBlobDecoder(limit int) *BlobDecoder {
	return &BlobDecoder{limit: min(limit, MaxBlob)}
}

// Add takes one shard, copying its payload, and reports whether the blob is
// complete. After an error the decoder is as before but for its counts:
// ErrOtherBlob, ErrBlobTooLong for a blob above the limit, ErrShard for a header
// that contradicts the first one.
func (d *BlobDecoder) Add(s *Shard) (complete bool, err error) {
	if !s.valid() {
		d.stats.Malformed++
		return false, ErrShard
	}
	if int(s.Length) > d.limit {
		d.stats.Malformed++
		return false, ErrBlobTooLong
	}
	if !d.began {
		d.began = true
		d.id, d.length, d.layout = s.Blob, int(s.Length), newLayout(int(s.Length), int(s.Size))
		d.open = d.layout.blocks
		if d.blocks == nil {
			d.blocks = make(map[uint16]*blockShards)
		}
	}
	if s.Blob != d.id {
		d.stats.Other++
		return d.open == 0, ErrOtherBlob
	}
	if int(s.Length) != d.length || int(s.Size) != d.layout.size {
		d.stats.Malformed++
		return d.open == 0, ErrShard
	}
	b := d.blocks[s.Block]
	if b == nil {
		b = &blockShards{data: make([][]byte, s.Data)}
		d.blocks[s.Block] = b
	}
	if !d.keep(b, s) || b.have < len(b.data) {
		return d.open == 0, nil
	}
	if err := d.finish(b); err != nil {
		return false, err
	}
	return d.open == 0, nil
}

// keep stores a shard and reports whether it is news to an open block.
func (d *BlobDecoder) keep(b *blockShards, s *Shard) bool {
	if s.Index < s.Data {
		if b.data[s.Index] != nil {
			d.stats.Duplicate++
			return false
		}
		d.stats.Data++
		b.data[s.Index] = d.copyOf(s.Payload)
		b.have++
		return true
	}
	row := int(s.Index - s.Data)
	if b.done {
		d.stats.Parity++
		d.stats.Wasted++
		return false
	}
	for _, p := range b.rows {
		if p.row == row {
			d.stats.Duplicate++
			return false
		}
	}
	d.stats.Parity++
	b.rows = append(b.rows, parityRow{row, d.copyOf(s.Payload)})
	b.have++
	return true
}

// finish rebuilds the missing data shards of a block that has k shards in all.
func (d *BlobDecoder) finish(b *blockShards) error {
	if len(b.rows) > 0 {
		k := len(b.data)
		rows := make([]int, len(b.rows))
		shards := make([][]byte, k+len(rows))
		copy(shards, b.data)
		for i, p := range b.rows {
			rows[i] = p.row
			shards[k+i] = p.shard
		}
		for i, s := range b.data {
			if s == nil {
				shards[i] = d.take()[:0]
			}
		}
		code, err := newCode(k, rows)
		if err != nil {
			return err
		}
		if err := code.ReconstructData(shards); err != nil {
			return err
		}
		copy(b.data, shards[:k])
		d.stats.Recovered += uint64(len(rows))
		for _, p := range b.rows {
			d.spare = append(d.spare, p.shard)
		}
		b.rows = nil
	}
	b.done = true
	d.open--
	return nil
}

func (d *BlobDecoder) copyOf(p []byte) []byte { return append(d.take(), p...) }

// take returns an empty buffer with room for a shard.
func (d *BlobDecoder) take() []byte {
	if n := len(d.spare); n > 0 && cap(d.spare[n-1]) >= d.layout.size {
		b := d.spare[n-1]
		d.spare = d.spare[:n-1]
		return b[:0]
	}
	return make([]byte, 0, d.layout.size)
}

// AppendBlob appends the blob to dst. Before it is complete it returns dst and
// ErrIncomplete.
func (d *BlobDecoder) AppendBlob(dst []byte) ([]byte, error) {
	if !d.began || d.open > 0 {
		return dst, ErrIncomplete
	}
	left := d.length
	for i := range d.layout.blocks {
		for _, s := range d.blocks[uint16(i)].data {
			n := min(left, len(s))
			dst = append(dst, s[:n]...)
			left -= n
		}
	}
	return dst, nil
}

// Blob returns the id and length of the blob being received; ok is false before
// the first shard.
func (d *BlobDecoder) Blob() (id uint16, length int, ok bool) { return d.id, d.length, d.began }

// Progress returns how many shards of use have arrived and how many are needed.
// Both are 0 before the first.
func (d *BlobDecoder) Progress() (have, need int) {
	for _, b := range d.blocks {
		have += min(b.have, len(b.data))
	}
	return have, d.layout.shards
}

// Needs appends to dst, in order, what each open block still needs, for at most
// MaxNeeds blocks: the request for parity on demand.
func (d *BlobDecoder) Needs(dst []Need) []Need {
	if !d.began || d.open == 0 {
		return dst
	}
	n := 0
	for i := 0; i < d.layout.blocks && n < MaxNeeds; i++ {
		need := d.layout.data(i)
		if b := d.blocks[uint16(i)]; b != nil {
			if b.done {
				continue
			}
			need -= b.have
		}
		dst = append(dst, Need{uint16(i), uint8(need)})
		n++
	}
	return dst
}

// Reset forgets the blob, so that the next shard begins another one. Up to one
// block's worth of buffers is kept for it.
func (d *BlobDecoder) Reset() {
	*d = BlobDecoder{limit: d.limit, stats: d.stats, spare: d.spare[:min(len(d.spare), MaxData)]}
}

// Stats returns the counts so far.
func (d *BlobDecoder) Stats() BlobDecoderStats { return d.stats }
