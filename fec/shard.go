package fec

import (
	"encoding/binary"
	"errors"
)

const (
	// ShardUnit divides the size of every shard: the widest vector there is.
	ShardUnit = 64
	// DefaultShard is the largest shard made unless asked otherwise, in bytes.
	DefaultShard = 1088
	// MaxShard is the largest shard there may be, in bytes.
	MaxShard = 1152
	// MaxData is the largest number of data shards in a block: 68 KB of blob.
	MaxData = 64
	// MaxBlockParity is the largest number of parity rows of a block.
	MaxBlockParity = 128
	// MaxBlob is the longest blob, in bytes.
	MaxBlob = 16 << 20
	// ShardHeader is the length of the header before a shard, in bytes.
	ShardHeader = 12
)

// Errors of bulk transfer.
var (
	ErrShortShard  = errors.New("fec: the shard ends before its header says")
	ErrShard       = errors.New("fec: the shard's header is impossible")
	ErrOtherBlob   = errors.New("fec: the shard is of another blob")
	ErrBlobTooLong = errors.New("fec: the blob is longer than allowed")
	ErrIncomplete  = errors.New("fec: the blob is not complete")
	ErrParityBound = errors.New("fec: the block has all the parity it may have")
	ErrNoShard     = errors.New("fec: there is no such block or shard")
	ErrShardSize   = errors.New("fec: the shard size must be a multiple of 64 from 64 to 1152")
)

// Shard is one shard of a blob as it travels.
type Shard struct {
	Blob    uint16 // which blob
	Length  uint32 // of the blob, bytes
	Size    uint16 // of the shard, bytes: a multiple of ShardUnit, at most MaxShard
	Block   uint16
	Data    uint8 // k: data shards of the block
	Parity  uint8 // m: parity rows of the block made when this was sent
	Index   uint8 // below Data: data shard; otherwise parity row Index-Data
	Payload []byte
}

// valid reports whether the header is one an encoder can make. The block's k
// follows from length and size; it travels all the same and must agree.
func (s *Shard) valid() bool {
	if s.Size == 0 || s.Size%ShardUnit != 0 || s.Size > MaxShard || s.Length > MaxBlob || s.Parity > MaxBlockParity {
		return false
	}
	l := newLayout(int(s.Length), int(s.Size))
	return int(s.Block) < l.blocks && int(s.Data) == l.data(int(s.Block)) &&
		int(s.Index) < int(s.Data)+int(s.Parity) && len(s.Payload) == int(s.Size)
}

// AppendShard appends the shard with its header. s must be one that
// [BlobEncoder.Shard] made or [ParseShard] accepted.
func AppendShard(b []byte, s *Shard) []byte {
	b = binary.LittleEndian.AppendUint16(b, s.Blob)
	b = binary.LittleEndian.AppendUint32(b, s.Length)
	b = append(b, uint8(s.Size/ShardUnit))
	b = binary.LittleEndian.AppendUint16(b, s.Block)
	b = append(b, s.Data, s.Parity, s.Index)
	return append(b, s.Payload...)
}

// ParseShard reads a shard that fills b. Its payload is a slice of b. It accepts
// exactly what an encoder can make and does not allocate.
func ParseShard(b []byte, s *Shard) error {
	if len(b) < ShardHeader {
		return ErrShortShard
	}
	p := Shard{
		Blob:    binary.LittleEndian.Uint16(b),
		Length:  binary.LittleEndian.Uint32(b[2:]),
		Size:    uint16(b[6]) * ShardUnit,
		Block:   binary.LittleEndian.Uint16(b[7:]),
		Data:    b[9],
		Parity:  b[10],
		Index:   b[11],
		Payload: b[ShardHeader:len(b):len(b)],
	}
	if len(p.Payload) < int(p.Size) {
		return ErrShortShard
	}
	if !p.valid() {
		return ErrShard
	}
	*s = p
	return nil
}

// layout cuts a blob into shards and blocks. All shards have the same size (the
// last is padded with zeros) and the blocks differ by at most one shard, larger
// ones first.
type layout struct{ size, shards, blocks int }

// newLayout cuts a blob of length bytes. An empty blob is one shard of padding.
func newLayout(length, size int) layout {
	shards := max((length+size-1)/size, 1)
	return layout{size, shards, (shards + MaxData - 1) / MaxData}
}

// data is the number of data shards of block b.
func (l layout) data(b int) int {
	n := l.shards / l.blocks
	if b < l.shards%l.blocks {
		n++
	}
	return n
}

// first is the number of data shards before block b.
func (l layout) first(b int) int {
	return b*(l.shards/l.blocks) + min(b, l.shards%l.blocks)
}

// ShardSize is the size of shard a blob of the given length is cut into: the
// least multiple of ShardUnit that needs no more shards than the largest
// permitted one, so that small blobs travel in small packets.
func ShardSize(length, largest int) int {
	shards := max((length+largest-1)/largest, 1)
	each := (length + shards - 1) / shards
	return max((each+ShardUnit-1)/ShardUnit, 1) * ShardUnit
}
