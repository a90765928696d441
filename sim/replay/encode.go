package replay

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"backstep/rollback/input"
	"backstep/sim"
)

// Append appends the file of r. What Decode would not take is refused with an error that wraps ErrMalformed or ErrPlayers, and b
// comes back as it was.
func (r *Replay) Append(b []byte) ([]byte, error) {
	if err := r.check(); err != nil {
		return b, err
	}
	var raw []byte
	for _, words := range r.Words {
		raw = input.AppendLog(raw, words)
	}
	packed, err := pack(raw)
	if err != nil {
		return b, err
	}
	start := len(b)
	b = append(b, magic...)
	b = append(b, Format)
	b = binary.LittleEndian.AppendUint16(b, r.Sim)
	b = binary.LittleEndian.AppendUint64(b, r.DataHash)
	b = sim.AppendConfig(b, r.Config)
	b = append(b, byte(len(r.Build)))
	b = append(b, r.Build...)
	b = append(b, byte(len(r.Words)))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Frames()))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(raw)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(packed)))
	b = append(b, packed...)
	for _, h := range r.Hashes {
		b = binary.LittleEndian.AppendUint64(b, h.Hash)
	}
	digest := sha256.Sum256(b[start:])
	return append(b, digest[:]...), nil
}

func pack(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing inputs: %w", err)
	}
	if _, err := z.Write(raw); err != nil {
		return nil, fmt.Errorf("compressing inputs: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compressing inputs: %w", err)
	}
	return out.Bytes(), nil
}

// check tells whether r can be written: what can be said of its parts without simulating.
func (r *Replay) check() error {
	if len(r.Words) < 1 || len(r.Words) > MaxPlayers {
		return fmt.Errorf("%w: %d, must be 1…%d", ErrPlayers, len(r.Words), MaxPlayers)
	}
	for p, words := range r.Words {
		if len(words) != r.Frames() {
			return fmt.Errorf("%w: player %d has %d words, player 0 has %d", ErrMalformed, p, len(words), r.Frames())
		}
	}
	if r.Frames() > MaxFrames {
		return fmt.Errorf("%w: %d frames, more than %d", ErrMalformed, r.Frames(), MaxFrames)
	}
	if err := checkBuild(r.Build); err != nil {
		return err
	}
	want := labels(r.Frames())
	if len(r.Hashes) != len(want) {
		return fmt.Errorf("%w: %d hashes, %d frames have %d", ErrMalformed, len(r.Hashes), r.Frames(), len(want))
	}
	for i, h := range r.Hashes {
		if h.Frame != want[i] {
			return fmt.Errorf("%w: hash %d is for frame %d, not %d", ErrMalformed, i, h.Frame, want[i])
		}
	}
	return nil
}

func checkBuild(build string) error {
	if len(build) > MaxBuild || !utf8.ValidString(build) {
		return fmt.Errorf("%w: the build id is longer than %d bytes or not UTF-8", ErrMalformed, MaxBuild)
	}
	for _, c := range build {
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("%w: the build id holds a control character", ErrMalformed)
		}
	}
	return nil
}
