package desync

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"

	"backstep/rollback/input"
)

// Limits of an evidence file.
const (
	MaxGame     = 512     // bytes that say what game was played
	MaxWords    = 1 << 12 // frames of inputs
	MaxPlayers  = 4
	evidenceVer = 1
)

// ErrEvidence: bytes that are no evidence file of this version.
var ErrEvidence = errors.New("desync: malformed evidence")

// Evidence is what both sides keep of a desync. The order of builds, hashes and states is host, guest, so both sides
// keep the same but for Host.
//
//	0       4     5       6        7        8        12       16
//	+-------+-----+-------+--------+--------+--------+--------+-----------+
//	| V2DE  |  1  | flags | players|  zero  | frame  | agreed | hash × 2  |
//	|   4   |  1  |   1   |   1    |   1    |   4    |   4    |    16     |
//	+-------+-----+-------+--------+--------+--------+--------+-----------+
//	| build × 2, game, state before, state × 2: each length u32 and bytes |
//	| first u32, then a log of inputs for each player (package input)     |
//	| CRC-32C of everything before                                      4 |
//	+---------------------------------------------------------------------+
//	flags  bit 0 written by the host, bit 1 ranked; little-endian
type Evidence struct {
	Host   bool // who wrote it
	Ranked bool
	Frame  int32 // first label known to differ
	Agreed int32 // newest label before it known to be equal, -1 for the start
	Builds [2]string
	Hashes [2]uint64 // of the states labelled Frame
	Game   []byte    // what was played, in the game's own form
	Before []byte    // encoded state labelled Agreed, empty if it was gone
	States [2][]byte // encoded states labelled Frame, empty if one was gone
	First  int32     // frame of the first words
	Words  [][]uint32
}

// Range is a run of bytes that differ.
type Range struct{ Offset, Length int }

// Ranges are the bytes in which the two states differ, at most limit runs of them. What only the longer one has differs.
func (e *Evidence) Ranges(limit int) []Range {
	a, b := e.States[0], e.States[1]
	var out []Range
	for i := 0; i < max(len(a), len(b)); i++ {
		if i < min(len(a), len(b)) && a[i] == b[i] {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Offset+out[n-1].Length == i {
			out[n-1].Length++
			continue
		}
		if len(out) == limit {
			break
		}
		out = append(out, Range{i, 1})
	}
	return out
}

// Exact reports whether Frame is where it went wrong: the state before it was equal.
func (e *Evidence) Exact() bool { return e.Frame == e.Agreed+1 }

// codeSymbols are those of lobby codes: nothing that is read as something else.
const codeSymbols = "23456789BCDFGHJKMNPQRTVWXYZ"

// Code is what the players can tell each other to know that they speak of the same desync: four symbols, a dash, four
// symbols. Both sides' files give the same.
func (e *Evidence) Code() string {
	shared := *e
	shared.Host, shared.Game = false, nil
	h := fnv.New64a()
	h.Write(AppendEvidence(nil, &shared))
	sum := h.Sum64()
	code := make([]byte, 0, 9)
	for i := range 8 {
		if i == 4 {
			code = append(code, '-')
		}
		code = append(code, codeSymbols[sum%uint64(len(codeSymbols))])
		sum /= uint64(len(codeSymbols))
	}
	return string(code)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendEvidence appends the file. What lies beyond the limits, or a Frame that does not come after Agreed, makes a file
// that ParseEvidence refuses.
func AppendEvidence(b []byte, e *Evidence) []byte {
	start := len(b)
	le := binary.LittleEndian
	flags := byte(0)
	if e.Host {
		flags |= 1
	}
	if e.Ranked {
		flags |= 2
	}
	b = append(b, 'V', '2', 'D', 'E', evidenceVer, flags, byte(len(e.Words)), 0)
	b = le.AppendUint32(b, uint32(e.Frame))
	b = le.AppendUint32(b, uint32(e.Agreed))
	b = le.AppendUint64(b, e.Hashes[0])
	b = le.AppendUint64(b, e.Hashes[1])
	for _, part := range [][]byte{[]byte(e.Builds[0]), []byte(e.Builds[1]), e.Game, e.Before, e.States[0], e.States[1]} {
		b = le.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	b = le.AppendUint32(b, uint32(e.First))
	for _, words := range e.Words {
		b = input.AppendLog(b, words)
	}
	return le.AppendUint32(b, crc(b[start:]))
}

// ParseEvidence reads a file. It takes nothing that AppendEvidence would not write, and allocates no more than a few
// times the length of b.
func ParseEvidence(b []byte) (*Evidence, error) {
	const header = 32
	le := binary.LittleEndian
	n := len(b) - 4
	if n < header || string(b[:4]) != "V2DE" || b[4] != evidenceVer || b[5] > 3 || b[6] > MaxPlayers || b[7] != 0 {
		return nil, ErrEvidence
	}
	if crc(b[:n]) != le.Uint32(b[n:]) {
		return nil, ErrEvidence
	}
	e := &Evidence{Host: b[5]&1 != 0, Ranked: b[5]&2 != 0, Frame: int32(le.Uint32(b[8:])), Agreed: int32(le.Uint32(b[12:]))}
	e.Hashes = [2]uint64{le.Uint64(b[16:]), le.Uint64(b[24:])}
	if e.Agreed < -1 || e.Frame <= e.Agreed {
		return nil, ErrEvidence
	}
	rest := b[header:n]
	var parts [6][]byte
	for i, most := range [6]uint32{MaxBuild, MaxBuild, MaxGame, MaxState, MaxState, MaxState} {
		if len(rest) < 4 || le.Uint32(rest) > most || uint64(le.Uint32(rest)) > uint64(len(rest)-4) {
			return nil, ErrEvidence
		}
		k := 4 + le.Uint32(rest)
		parts[i], rest = bytes.Clone(rest[4:k]), rest[k:]
	}
	e.Builds = [2]string{string(parts[0]), string(parts[1])}
	e.Game, e.Before, e.States = parts[2], parts[3], [2][]byte{parts[4], parts[5]}
	if len(rest) < 4 {
		return nil, ErrEvidence
	}
	e.First, rest = int32(le.Uint32(rest)), rest[4:]
	if e.First < 0 {
		return nil, ErrEvidence
	}
	for range b[6] {
		words, after, err := input.ParseLog[uint32](rest, nil, MaxWords)
		if err != nil {
			return nil, ErrEvidence
		}
		e.Words, rest = append(e.Words, words), after
	}
	if len(rest) > 0 {
		return nil, ErrEvidence
	}
	return e, nil
}

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
