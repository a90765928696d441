package lockstep

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrReplay: bytes that are no replay, or one that the game does not repeat.
var ErrReplay = errors.New("lockstep: invalid replay")

const (
	replayVersion = 1
	replayHead    = 4 + 1 + 1 + 8 + 8 + 4 + 4
)

// Record is the input-only replay of a match: what it is bound to, the bundles of every frame, and the digests by which a
// repetition is checked. Little-endian; uv is a minimal unsigned varint, zz a zigzag one:
//
//	"BSLR" | version u8 1 | players u8 | config u64 | seed u64 | frames u32 | stream length u32 | stream |
//	checkpoint digest u64 for each frame divisible by 100 | digest u64 of the last frame
//
//	stream   for each frame with commands: uv frames without since the one before | uv commands | command
//	command  player u8 | name: uv 0, length u8, bytes: a new one; uv n: the nth new one | zz primary | zz secondary | zz target
//
// A frame costs nothing if nobody gives a command. Make it with NewRecord. Adding to it grows it by appending.
type Record struct {
	match  Match
	frames int32
	stream []byte
	empty  uint64 // frames since the last with commands
	names  map[string]uint64
	checks []uint64
	final  uint64
}

// NewRecord records a match from its first frame on.
func NewRecord(m Match) *Record { return &Record{match: m, names: make(map[string]uint64)} }

// Frames is how many are recorded.
func (r *Record) Frames() int { return int(r.frames) }

// add records a frame, or, after a recovery, the digest of one that is recorded.
func (r *Record) add(frame int32, commands []Command, digest uint64) {
	if frame > r.frames {
		return
	}
	if frame%HashIntervalFrames == 0 {
		i := int(frame / HashIntervalFrames)
		r.checks = append(r.checks[:min(i, len(r.checks))], digest)
	}
	if frame >= r.frames-1 {
		r.final = digest
	}
	if frame < r.frames {
		return
	}
	r.frames++
	if len(commands) == 0 {
		r.empty++
		return
	}
	r.stream = binary.AppendUvarint(r.stream, r.empty)
	r.stream = binary.AppendUvarint(r.stream, uint64(len(commands)))
	r.empty = 0
	for i := range commands {
		c := &commands[i]
		r.stream = append(r.stream, c.Player)
		if n, ok := r.names[c.Name]; ok {
			r.stream = binary.AppendUvarint(r.stream, n)
		} else {
			r.names[c.Name] = uint64(len(r.names) + 1)
			r.stream = append(append(r.stream, 0, byte(len(c.Name))), c.Name...)
		}
		r.stream = appendFields(r.stream, c)
	}
}

// drop forgets the digests from frame on. The commands stand: they are agreed.
func (r *Record) drop(frame int32) {
	if i := int(max(frame, 0)+HashIntervalFrames-1) / HashIntervalFrames; i < len(r.checks) {
		r.checks = r.checks[:i]
	}
}

// AppendReplay appends the replay as it stands. It may be called again later.
func (r *Record) AppendReplay(b []byte) []byte {
	b = append(b, "BSLR"...)
	b = append(b, replayVersion, byte(r.match.Players))
	b = binary.LittleEndian.AppendUint64(b, r.match.Config)
	b = binary.LittleEndian.AppendUint64(b, r.match.Seed)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.frames))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.stream)))
	b = append(b, r.stream...)
	for _, d := range r.checks {
		b = binary.LittleEndian.AppendUint64(b, d)
	}
	return binary.LittleEndian.AppendUint64(b, r.final)
}

// Replay is a parsed one.
type Replay struct {
	Match  Match
	Frames int

	bundles []bundle // of frames with commands, in order
	checks  []uint64
	final   uint64
}

type bundle struct {
	frame    int32
	commands []Command
}

// ParseReplay reads a replay that fills b. It accepts exactly what AppendReplay writes.
func ParseReplay(b []byte) (*Replay, error) {
	fail := func(what string) (*Replay, error) { return nil, fmt.Errorf("%w: %s", ErrReplay, what) }
	if len(b) < replayHead+8 || string(b[:4]) != "BSLR" {
		return fail("it does not begin as one")
	}
	if b[4] != replayVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads version %d", ErrReplay, b[4], replayVersion)
	}
	r := &Replay{Match: Match{Players: int(b[5]), Config: binary.LittleEndian.Uint64(b[6:]), Seed: binary.LittleEndian.Uint64(b[14:])}}
	frames, size := binary.LittleEndian.Uint32(b[22:]), uint64(binary.LittleEndian.Uint32(b[26:]))
	if r.Match.Players < 1 || r.Match.Players > MaxPlayers || frames > maxFrame {
		return fail("its head is out of range")
	}
	r.Frames = int(frames)
	checks := (uint64(frames) + HashIntervalFrames - 1) / HashIntervalFrames
	if uint64(len(b)) != replayHead+size+8*checks+8 {
		return fail("its length is not what its head says")
	}
	tail := b[replayHead+size:]
	for range checks {
		r.checks = append(r.checks, binary.LittleEndian.Uint64(tail))
		tail = tail[8:]
	}
	r.final = binary.LittleEndian.Uint64(tail)
	if !r.parseStream(b[replayHead:replayHead+size]) || !bytes.Equal(r.again(), b) {
		return fail("its commands are malformed")
	}
	return r, nil
}

func (r *Replay) parseStream(b []byte) (ok bool) {
	var list []string
	frame := int64(0)
	for len(b) > 0 {
		var empty, count, n uint64
		if empty, b, ok = uvarint(b); !ok || empty > uint64(r.Frames) {
			return false
		}
		if count, b, ok = uvarint(b); !ok || count == 0 || count > MaxPlayers*MaxCommands {
			return false
		}
		if frame += int64(empty); frame >= int64(r.Frames) {
			return false
		}
		x := bundle{frame: int32(frame)}
		frame++
		for range count {
			if len(b) == 0 || int(b[0]) >= r.Match.Players {
				return false
			}
			c := Command{Player: b[0]}
			if n, b, ok = uvarint(b[1:]); !ok || n > uint64(len(list)) {
				return false
			}
			if n > 0 {
				c.Name = list[n-1]
			} else {
				var name []byte
				if name, b, ok = parseName(b); !ok {
					return false
				}
				c.Name = string(name)
				list = append(list, c.Name)
			}
			if b, ok = parseFields(b, &c); !ok || !c.Valid() {
				return false
			}
			if k := len(x.commands); k > 0 && Compare(x.commands[k-1], c) > 0 {
				return false
			}
			x.commands = append(x.commands, c)
		}
		r.bundles = append(r.bundles, x)
	}
	return true
}

// again is the only encoding of r.
func (r *Replay) again() []byte {
	w := NewRecord(r.Match)
	for _, x := range r.bundles {
		w.empty = uint64(x.frame - w.frames)
		w.frames = x.frame
		w.add(x.frame, x.commands, 0)
	}
	w.frames, w.checks, w.final = int32(r.Frames), r.checks, r.final
	return w.AppendReplay(nil)
}

// Play runs the replay on a game before frame 0 and checks every digest. Its error wraps ErrReplay or ErrDrawOrder and names
// the frame up to which the game was last the same.
func (r *Replay) Play(game Game) error {
	draws := NewDraws(r.Match.Seed)
	digest, next, agreed := uint64(0), 0, int32(-1)
	for f := range int32(r.Frames) {
		var commands []Command
		if next < len(r.bundles) && r.bundles[next].frame == f {
			commands = r.bundles[next].commands
			next++
		}
		draws.frame = f
		game.Step(f, commands, &draws)
		if err := draws.Err(); err != nil {
			return err
		}
		digest = r.Match.Digest(digest, f, game.Hash(), commands)
		if f%HashIntervalFrames == 0 {
			if digest != r.checks[f/HashIntervalFrames] {
				return fmt.Errorf("%w: the game differs at frame %d, at %d it was the same", ErrReplay, f, agreed)
			}
			agreed = f
		}
	}
	if digest != r.final {
		return fmt.Errorf("%w: the game differs at the last frame, %d, at %d it was the same", ErrReplay, r.Frames-1, agreed)
	}
	return nil
}
