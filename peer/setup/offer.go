package setup

import (
	"encoding/binary"
	"fmt"

	"backstep/rollback/quality"
)

// Setting is a bit for a rule that a joiner gave explicitly.
type Setting uint8

// The host's rules, in the order of the contract.
const (
	SetRuleset Setting = 1 << iota
	SetFormat
	SetRounds
	SetRanked
	settings = 1<<iota - 1
)

const (
	maxBuild  = 64
	maxRegion = 32
	maxTeam   = 3
	// offerFixed is the length of an encoded offer without its two strings.
	offerFixed = 2 + 2 + 8 + 1 + 1 + 1 + 1 + 1 + maxTeam + 4 + 1 + 8 + 1 + 1
)

// Offer is what one side says about itself. The rules of the match are the
// host's; a joiner's rules count only where Explicit says it insists.
//
//	wire u16 | sim u16 | data hash u64 | ruleset u8 | format u8 | rounds u8 |
//	ranked u8 | explicit u8 | team 3 x u8 | frames u32 | seeded u8 | seed u64 |
//	mode u8 | paths u8 | lv8 build | lv8 region             little-endian
type Offer struct {
	Wire, Sim uint16
	DataHash  uint64
	Ruleset   uint8
	Format    uint8
	Rounds    uint8
	Ranked    bool
	Explicit  Setting
	Team      [maxTeam]uint8 // fighter ids; unused places are zero
	Frames    uint32         // frames to play, 0 = until the match is decided
	Seeded    bool           // the host fixes the seed
	Seed      uint64
	Mode      quality.Mode
	Paths     uint8  // kinds of path this side permits, as natpunch.Allowed
	Build     string // at most 64 bytes; a difference is a warning only
	Region    string // at most 32 bytes, cleaned by the receiver
}

// AppendOffer appends the only encoding of o. Strings are cut to their limits.
func AppendOffer(b []byte, o Offer) []byte {
	b = binary.LittleEndian.AppendUint16(b, o.Wire)
	b = binary.LittleEndian.AppendUint16(b, o.Sim)
	b = binary.LittleEndian.AppendUint64(b, o.DataHash)
	b = append(b, o.Ruleset, o.Format, o.Rounds, bit(o.Ranked), byte(o.Explicit))
	b = append(b, o.Team[:]...)
	b = binary.LittleEndian.AppendUint32(b, o.Frames)
	b = append(b, bit(o.Seeded))
	b = binary.LittleEndian.AppendUint64(b, o.Seed)
	b = append(b, byte(o.Mode), o.Paths)
	b = appendText(b, o.Build, maxBuild)
	return appendText(b, o.Region, maxRegion)
}

// ParseOffer reads an offer that fills b. It rejects what AppendOffer cannot
// have written.
func ParseOffer(b []byte) (Offer, error) {
	var o Offer
	if len(b) < offerFixed {
		return o, fmt.Errorf("%w: offer of %d bytes", ErrMalformed, len(b))
	}
	o.Wire = binary.LittleEndian.Uint16(b)
	o.Sim = binary.LittleEndian.Uint16(b[2:])
	o.DataHash = binary.LittleEndian.Uint64(b[4:])
	o.Ruleset, o.Format, o.Rounds = b[12], b[13], b[14]
	o.Explicit = Setting(b[16])
	copy(o.Team[:], b[17:20])
	o.Frames = binary.LittleEndian.Uint32(b[20:])
	o.Seed = binary.LittleEndian.Uint64(b[25:])
	o.Mode, o.Paths = quality.Mode(b[33]), b[34]
	if b[15] > 1 || b[24] > 1 || o.Explicit&^settings != 0 || b[24] == 0 && o.Seed != 0 || o.Frames > 1<<31-1 || o.Mode > quality.Rollback {
		return Offer{}, fmt.Errorf("%w: offer with an impossible flag", ErrMalformed)
	}
	o.Ranked, o.Seeded = b[15] == 1, b[24] == 1
	var err error
	b = b[offerFixed:]
	if o.Build, b, err = parseText(b, maxBuild); err != nil {
		return Offer{}, err
	}
	if o.Region, b, err = parseText(b, maxRegion); err != nil {
		return Offer{}, err
	}
	if len(b) != 0 {
		return Offer{}, fmt.Errorf("%w: %d bytes behind the offer", ErrMalformed, len(b))
	}
	return o, nil
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func appendText(b []byte, s string, most int) []byte {
	s = s[:min(len(s), most)]
	return append(append(b, byte(len(s))), s...)
}

func parseText(b []byte, most int) (string, []byte, error) {
	if len(b) == 0 || int(b[0]) > most || len(b) < 1+int(b[0]) {
		return "", nil, fmt.Errorf("%w: text of a wrong length", ErrMalformed)
	}
	return string(b[1 : 1+b[0]]), b[1+b[0]:], nil
}
