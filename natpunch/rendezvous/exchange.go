package rendezvous

import "encoding/binary"

// ShareAMsg is the host's half of the key agreement.
//
//	05 | run u32 | lobby 16 | nH 16 | Ya 32 | len u8, ADa         70..325 bytes
type ShareAMsg struct {
	Run    uint32
	Lobby  LobbyID
	NonceH Nonce
	Share  Share
	AD     []byte // at most MaxAD bytes
}

const shareAMin = 1 + 4 + 16 + 16 + 32 + 1

// AppendShareA appends m to b. It panics if m.AD is longer than MaxAD, which
// only the caller's own data can be.
func AppendShareA(b []byte, m *ShareAMsg) []byte {
	b = append(b, byte(TypeShareA))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	b = append(b, m.Lobby[:]...)
	b = append(b, m.NonceH[:]...)
	b = append(b, m.Share[:]...)
	return appendLV8(b, m.AD)
}

// ParseShareA reads m from b; m.AD points into b.
func ParseShareA(b []byte, m *ShareAMsg) error {
	if err := checkMin(b, TypeShareA, shareAMin); err != nil {
		return err
	}
	if len(b) != shareAMin+int(b[shareAMin-1]) {
		return ErrSize
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	copy(m.Lobby[:], b[5:])
	copy(m.NonceH[:], b[21:])
	copy(m.Share[:], b[37:])
	m.AD = b[shareAMin:]
	return nil
}

// ShareBMsg is the joiner's half together with its confirmation: the joiner
// confirms first.
//
//	06 | run u32 | Yb 32 | len u8, ADb | Tb 64                   102..357 bytes
type ShareBMsg struct {
	Run   uint32
	Share Share
	AD    []byte // at most MaxAD bytes
	Tag   Tag
}

const shareBMin = 1 + 4 + 32 + 1 + 64

// AppendShareB appends m to b. It panics if m.AD is longer than MaxAD.
func AppendShareB(b []byte, m *ShareBMsg) []byte {
	b = append(b, byte(TypeShareB))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	b = append(b, m.Share[:]...)
	b = appendLV8(b, m.AD)
	return append(b, m.Tag[:]...)
}

// ParseShareB reads m from b; m.AD points into b.
func ParseShareB(b []byte, m *ShareBMsg) error {
	if err := checkMin(b, TypeShareB, shareBMin); err != nil {
		return err
	}
	n := int(b[37])
	if len(b) != shareBMin+n {
		return ErrSize
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	copy(m.Share[:], b[5:])
	m.AD = b[38 : 38+n : 38+n]
	copy(m.Tag[:], b[38+n:])
	return nil
}

// ConfAMsg is the host's confirmation, sent only after Tb was right.
//
//	07 | run u32 | Ta 64                                               69 bytes
type ConfAMsg struct {
	Run uint32
	Tag Tag
}

const confASize = 1 + 4 + 64

// AppendConfA appends m to b.
func AppendConfA(b []byte, m *ConfAMsg) []byte {
	b = append(b, byte(TypeConfA))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	return append(b, m.Tag[:]...)
}

// ParseConfA reads m from b.
func ParseConfA(b []byte, m *ConfAMsg) error {
	if err := check(b, TypeConfA, confASize); err != nil {
		return err
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	copy(m.Tag[:], b[5:])
	return nil
}

// TakenMsg tells the relay that this run found the opponent: it ends the other
// runs and allots the session.
//
//	08 | run u32                                                        5 bytes
type TakenMsg struct{ Run uint32 }

// FailMsg tells relay and joiner that a run was a failed guess.
//
//	0E | run u32                                                        5 bytes
type FailMsg struct{ Run uint32 }

const runOnlySize = 1 + 4

// AppendTaken appends m to b.
func AppendTaken(b []byte, m *TakenMsg) []byte {
	return binary.LittleEndian.AppendUint32(append(b, byte(TypeTaken)), m.Run)
}

// ParseTaken reads m from b.
func ParseTaken(b []byte, m *TakenMsg) error {
	if err := check(b, TypeTaken, runOnlySize); err != nil {
		return err
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	return nil
}

// AppendFail appends m to b.
func AppendFail(b []byte, m *FailMsg) []byte {
	return binary.LittleEndian.AppendUint32(append(b, byte(TypeFail)), m.Run)
}

// ParseFail reads m from b.
func ParseFail(b []byte, m *FailMsg) error {
	if err := check(b, TypeFail, runOnlySize); err != nil {
		return err
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	return nil
}

// SealedMsg carries one sealed message between the players; natpunch/keys makes
// and opens the box. The first 13 bytes are its associated data.
//
//	0A | run u32 | ctr u64 | len u16, box                       15..4096 bytes
type SealedMsg struct {
	Run uint32
	Ctr uint64
	Box []byte // at most MaxBox bytes
}

const sealedMin = 1 + 4 + 8 + 2

// MaxBox is the longest box that fits a lobby message.
const MaxBox = MaxMessage - sealedMin

// AppendSealed appends m to b. It panics if m.Box is longer than MaxBox.
func AppendSealed(b []byte, m *SealedMsg) []byte {
	if len(m.Box) > MaxBox {
		panic("rendezvous: box too long")
	}
	b = append(b, byte(TypeSealed))
	b = binary.LittleEndian.AppendUint32(b, m.Run)
	b = binary.LittleEndian.AppendUint64(b, m.Ctr)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.Box)))
	return append(b, m.Box...)
}

// ParseSealed reads m from b; m.Box points into b.
func ParseSealed(b []byte, m *SealedMsg) error {
	if err := checkMin(b, TypeSealed, sealedMin); err != nil {
		return err
	}
	if len(b) != sealedMin+int(binary.LittleEndian.Uint16(b[13:])) {
		return ErrSize
	}
	m.Run = binary.LittleEndian.Uint32(b[1:])
	m.Ctr = binary.LittleEndian.Uint64(b[5:])
	m.Box = b[sealedMin:]
	return nil
}

func appendLV8(b, v []byte) []byte {
	if len(v) > MaxAD {
		panic("rendezvous: associated data too long")
	}
	return append(append(b, byte(len(v))), v...)
}
