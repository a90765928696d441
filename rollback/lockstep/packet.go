package lockstep

import (
	"encoding/binary"
	"errors"
)

const (
	turnTag  = 'T'
	fetchTag = 'F'
	chunkTag = 'C'

	catching = 1 // flag: bundles of all players are wanted

	// MaxPacket is the longest packet in bytes.
	MaxPacket  = 1200
	maxBundles = 64 // in a section
	chunkBytes = 1024
	chunkHead  = 1 + 1 + 4 + 4 + 8 + 8 + 4 + 4
	fetchLen   = 1 + 1 + 4 + 4
)

// ErrPacket: bytes that no packet consists of.
var ErrPacket = errors.New("lockstep: malformed packet")

// turn is a decoded turn packet, its sections aside.
type turn struct {
	player, flags, life uint8
	known               [MaxPlayers]int32
	done                int32
	digest              uint64
}

func appendTurn(b []byte, t *turn, players int) []byte {
	b = append(b, turnTag, t.player, t.flags, t.life)
	for _, f := range t.known[:players] {
		b = binary.LittleEndian.AppendUint32(b, uint32(f+1))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(t.done+1))
	return binary.LittleEndian.AppendUint64(b, t.digest)
}

// maxFrame is beyond any match: 490 days.
const maxFrame = 1 << 30

// frameOf reads a field frame+1; -2 is none.
func frameOf(b []byte) int32 {
	u := binary.LittleEndian.Uint32(b)
	if u > maxFrame {
		return -2
	}
	return int32(u) - 1
}

// parseTurn reads the head and leaves the sections, beginning with their number.
func parseTurn(b []byte, t *turn, players int) (rest []byte, err error) {
	n := 4 + 4*players + 12
	if len(b) < n+1 || b[0] != turnTag {
		return nil, ErrPacket
	}
	*t = turn{player: b[1], flags: b[2], life: b[3]}
	for p := range players {
		t.known[p] = frameOf(b[4+4*p:])
		if t.known[p] < -1 {
			return nil, ErrPacket
		}
	}
	t.done = frameOf(b[n-12:])
	t.digest = binary.LittleEndian.Uint64(b[n-8:])
	if t.flags > catching || t.done < -1 || t.done < 0 && t.digest != 0 {
		return nil, ErrPacket
	}
	return b[n:], nil
}

func appendBundle(b []byte, commands []Command) []byte {
	b = binary.AppendUvarint(b, uint64(len(commands)))
	for i := range commands {
		c := &commands[i]
		b = append(b, byte(len(c.Name)))
		b = append(b, c.Name...)
		b = appendFields(b, c)
	}
	return b
}

func appendFields(b []byte, c *Command) []byte {
	b = binary.AppendVarint(b, int64(c.Primary))
	b = binary.AppendVarint(b, int64(c.Secondary))
	return binary.AppendVarint(b, int64(c.Target))
}

// parseBundle reads the commands of one player and one frame. Names are taken from n, so that in a running match none
// is made anew.
func parseBundle(b []byte, player uint8, dst []Command, n *names) (commands []Command, rest []byte, err error) {
	count, b, ok := uvarint(b)
	if !ok || count > MaxCommands {
		return nil, nil, ErrPacket
	}
	for range count {
		name, after, ok := parseName(b)
		if !ok {
			return nil, nil, ErrPacket
		}
		c := Command{Player: player}
		if c.Name, ok = n.take(name); !ok {
			return nil, nil, ErrPacket
		}
		if b, ok = parseFields(after, &c); !ok {
			return nil, nil, ErrPacket
		}
		if k := len(dst); k > 0 && Compare(dst[k-1], c) > 0 {
			return nil, nil, ErrPacket
		}
		dst = append(dst, c)
	}
	return dst, b, nil
}

// parseName reads a byte of length and as many bytes, 255 at most.
func parseName(b []byte) (name, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return nil, nil, false
	}
	n := 1 + int(b[0])
	return b[1:n], b[n:], true
}

func parseFields(b []byte, c *Command) (rest []byte, ok bool) {
	for _, f := range [...]*int32{&c.Primary, &c.Secondary, &c.Target} {
		var u uint64
		if u, b, ok = uvarint(b); !ok || u > 1<<32-1 {
			return nil, false
		}
		*f = int32(uint32(u>>1) ^ -uint32(u&1))
	}
	return b, true
}

// uvarint reads a varint in its shortest form.
func uvarint(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

// names holds the names of commands seen, so that a command on the wire costs no memory.
type names struct {
	known map[string]string
}

// maxNames is how many names a match may have.
const maxNames = 1024

func (n *names) take(b []byte) (name string, ok bool) {
	if name, ok = n.known[string(b)]; ok {
		return name, true
	}
	name = string(b)
	if len(n.known) >= maxNames || !(Command{Name: name}).Valid() {
		return "", false
	}
	n.known[name] = name
	return name, true
}

func appendFetch(b []byte, player uint8, wanted int32, offset uint32) []byte {
	b = append(b, fetchTag, player)
	b = binary.LittleEndian.AppendUint32(b, uint32(wanted+1))
	return binary.LittleEndian.AppendUint32(b, offset)
}

func parseFetch(b []byte) (player uint8, wanted int32, offset uint32, err error) {
	if len(b) != fetchLen || b[0] != fetchTag || frameOf(b[2:]) < -1 {
		return 0, 0, 0, ErrPacket
	}
	return b[1], frameOf(b[2:]), binary.LittleEndian.Uint32(b[6:]), nil
}

// chunk is a part of a snapshot on its way.
type chunk struct {
	player uint8
	label  int32
	length uint32
	digest uint64
	draws  uint64
	count  uint32
	offset uint32
	bytes  []byte
}

func appendChunk(b []byte, c *chunk) []byte {
	b = append(b, chunkTag, c.player)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.label+1))
	b = binary.LittleEndian.AppendUint32(b, c.length)
	b = binary.LittleEndian.AppendUint64(b, c.digest)
	b = binary.LittleEndian.AppendUint64(b, c.draws)
	b = binary.LittleEndian.AppendUint32(b, c.count)
	b = binary.LittleEndian.AppendUint32(b, c.offset)
	return append(b, c.bytes...)
}

func parseChunk(b []byte) (c chunk, err error) {
	if len(b) <= chunkHead || b[0] != chunkTag {
		return c, ErrPacket
	}
	c = chunk{
		player: b[1], label: frameOf(b[2:]), length: binary.LittleEndian.Uint32(b[6:]), digest: binary.LittleEndian.Uint64(b[10:]),
		draws: binary.LittleEndian.Uint64(b[18:]), count: binary.LittleEndian.Uint32(b[26:]), offset: binary.LittleEndian.Uint32(b[30:]),
		bytes: b[chunkHead:],
	}
	end := uint64(c.offset) + uint64(len(c.bytes))
	if c.label < -1 || c.length > MaxState || c.offset%chunkBytes != 0 || end > uint64(c.length) ||
		len(c.bytes) != chunkBytes && end != uint64(c.length) || len(c.bytes) > chunkBytes {
		return chunk{}, ErrPacket
	}
	return c, nil
}
