package replay

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"backstep/rollback/input"
	"backstep/sim"
)

// cursor takes fields off the front of b and remembers that one was not there.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || len(c.b) < n {
		c.short = true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Decode reads a whole file. It allocates no more than the sizes the file may truthfully have, whatever the bytes claim; errors
// wrap ErrMalformed. A file of other rules or data decodes; whether it can be run says Compatible.
func Decode(b []byte) (*Replay, error) {
	switch {
	case len(b) > MaxFile:
		return nil, malformed("%d bytes, more than any replay", len(b))
	case len(b) < len(magic)+1+sha256.Size:
		return nil, malformed("%d bytes, fewer than any replay", len(b))
	case string(b[:len(magic)]) != magic:
		return nil, malformed("it does not begin with %s", magic)
	case b[4] != Format:
		return nil, malformed("format %d, this program reads %d", b[4], Format)
	}
	body := b[:len(b)-sha256.Size]
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], b[len(body):]) {
		return nil, malformed("the digest does not fit: the file was cut or damaged")
	}
	c := cursor{b: body[5:]}
	r := &Replay{}
	if v := c.take(2); v != nil {
		r.Sim = binary.LittleEndian.Uint16(v)
	}
	r.DataHash = c.u64()
	config := c.take(sim.ConfigSize)
	r.Build = string(c.take(int(c.u8())))
	players, frames, raw, packed := int(c.u8()), c.u32(), c.u32(), c.u32()
	if c.short {
		return nil, malformed("it ends in the header")
	}
	var err error
	if r.Config, err = sim.ParseConfig(config); err != nil {
		return nil, malformed("%v", err)
	}
	if err := checkBuild(r.Build); err != nil {
		return nil, err
	}
	if players < 1 || players > MaxPlayers || frames > MaxFrames {
		return nil, malformed("%d players and %d frames, at most %d and %d are possible", players, frames, MaxPlayers, MaxFrames)
	}
	if most := players * (int(frames)*mostWord + 16); int64(raw) > int64(most) || int64(packed) > int64(len(c.b)) {
		return nil, malformed("%d bytes of input packed in %d, which %d frames cannot have", raw, packed, frames)
	}
	if r.Words, err = unpack(c.take(int(packed)), int(raw), players, int(frames)); err != nil {
		return nil, err
	}
	for _, label := range labels(int(frames)) {
		r.Hashes = append(r.Hashes, FrameHash{Frame: label, Hash: c.u64()})
	}
	if c.short {
		return nil, malformed("hashes are missing")
	}
	if len(c.b) > 0 {
		return nil, malformed("%d bytes too many", len(c.b))
	}
	return r, nil
}

// unpack reads the inputs of all players: exactly raw bytes out of all of packed, one log after another, equally long.
func unpack(packed []byte, raw, players, frames int) ([][]uint16, error) {
	src := bytes.NewReader(packed)
	z := flate.NewReader(src)
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(z, int64(raw)+1))
	switch {
	case err != nil:
		return nil, malformed("inputs: %v", err)
	case n != int64(raw):
		return nil, malformed("inputs do not unpack to the %d bytes announced", raw)
	case src.Len() != 0:
		return nil, malformed("%d bytes after the compressed inputs", src.Len())
	}
	words := make([][]uint16, players)
	rest := out.Bytes()
	for p := range words {
		if words[p], rest, err = input.ParseLog[uint16](rest, nil, frames); err != nil {
			return nil, malformed("inputs of player %d: %v", p, err)
		}
		if len(words[p]) != frames {
			return nil, malformed("player %d has %d words, not %d", p, len(words[p]), frames)
		}
	}
	if len(rest) != 0 {
		return nil, malformed("%d bytes after the inputs", len(rest))
	}
	return words, nil
}
