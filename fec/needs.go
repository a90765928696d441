package fec

import (
	"encoding/binary"
	"errors"
)

// MaxNeeds is the largest number of blocks in one request for parity.
const MaxNeeds = 64

// ErrNeeds is returned by [ParseNeeds] for bytes that are not a request.
var ErrNeeds = errors.New("fec: the request for parity is malformed")

// Need is how many shards a block still needs.
type Need struct {
	Block  uint16
	Shards uint8 // 1 to MaxData
}

// AppendNeeds appends the request for parity for a blob:
//
//	0      2       3 + 3i
//	+------+-------+- - +-------+--------+- -
//	| blob | count | …  | block | shards | …
//	+------+-------+- - +-------+--------+- -
//
// needs holds 1 to MaxNeeds entries with ascending blocks, as
// [BlobDecoder.Needs] gives them; entries beyond MaxNeeds are left out.
func AppendNeeds(b []byte, blob uint16, needs []Need) []byte {
	needs = needs[:min(len(needs), MaxNeeds)]
	b = binary.LittleEndian.AppendUint16(b, blob)
	b = append(b, uint8(len(needs)))
	for _, n := range needs {
		b = binary.LittleEndian.AppendUint16(b, n.Block)
		b = append(b, n.Shards)
	}
	return b
}

// ParseNeeds reads a request that fills b and appends its entries to dst. It
// accepts only what AppendNeeds makes: at least one entry, blocks ascending.
func ParseNeeds(b []byte, dst []Need) (blob uint16, needs []Need, err error) {
	if len(b) < 3 {
		return 0, dst, ErrNeeds
	}
	count := int(b[2])
	if count == 0 || count > MaxNeeds || len(b) != 3+3*count {
		return 0, dst, ErrNeeds
	}
	needs, previous := dst, -1
	for e := b[3:]; len(e) > 0; e = e[3:] {
		n := Need{binary.LittleEndian.Uint16(e), e[2]}
		if int(n.Block) <= previous || n.Shards == 0 || n.Shards > MaxData {
			return 0, dst, ErrNeeds
		}
		previous = int(n.Block)
		needs = append(needs, n)
	}
	return binary.LittleEndian.Uint16(b), needs, nil
}
