package lockstep

import (
	"cmp"
	"hash/crc32"
	"slices"
	"strings"
)

const (
	MaxPlayers  = 4
	MaxName     = 32 // bytes of a command's name
	MaxCommands = 32 // commands of a player in a frame
)

// Command is one order of a player.
type Command struct {
	Player    uint8
	Name      string // 1 to MaxName printable ASCII characters without spaces
	Primary   int32
	Secondary int32
	Target    int32 // cell
}

// Valid reports whether the name is one.
func (c Command) Valid() bool {
	if len(c.Name) == 0 || len(c.Name) > MaxName {
		return false
	}
	for i := range len(c.Name) {
		if c.Name[i] <= ' ' || c.Name[i] > '~' {
			return false
		}
	}
	return true
}

// Compare is the canonical order: player, name, primary, secondary, target.
func Compare(a, b Command) int {
	return cmp.Or(cmp.Compare(a.Player, b.Player), strings.Compare(a.Name, b.Name), cmp.Compare(a.Primary, b.Primary),
		cmp.Compare(a.Secondary, b.Secondary), cmp.Compare(a.Target, b.Target))
}

// Sort puts commands into canonical order, in place.
func Sort(commands []Command) { slices.SortFunc(commands, Compare) }

// Match is what a digest is bound to.
type Match struct {
	Config  uint64 // hash of the match configuration
	Seed    uint64
	Players int // 1 to MaxPlayers
}

// Digest folds a frame into the digest of the one before: its commands in canonical order and the hash of the game's
// state after it. prev is 0 before frame 0. It does not allocate.
func (m Match) Digest(prev uint64, frame int32, state uint64, commands []Command) uint64 {
	h := fold(prev, m.Config)
	h = fold(h, m.Seed&0xFFFFFFFF)
	h = fold(h, m.Seed>>32)
	h = fold(h, uint64(uint32(frame)))
	h = fold(h, state)
	h = fold(h, uint64(len(commands)))
	for _, c := range commands {
		h = fold(h, uint64(c.Player))
		h = fold(h, uint64(nameHash(c.Name)))
		h = fold(h, uint64(uint32(c.Primary)))
		h = fold(h, uint64(uint32(c.Secondary)))
		h = fold(h, uint64(uint32(c.Target)))
	}
	return h
}

// nameHash is the CRC-32 (IEEE) of a name, so that a digest does not depend on numbers a process gave to names.
func nameHash(name string) uint32 {
	h := ^uint32(0)
	for i := range len(name) {
		h = crc32.IEEETable[byte(h)^name[i]] ^ h>>8 // crc32.Update would put a copy of the name on the heap
	}
	return ^h
}

// fold takes x into h. For either of the two fixed it is a bijection of the other.
func fold(h, x uint64) uint64 { return mix(h*foldPrime ^ mix(x+golden)) }

const foldPrime = 0x9FB21C651E98DF25
