package rollback

import (
	"encoding/binary"
	"errors"
	"testing"
)

func appendSmall(b []byte, s *small) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Frame))
	return binary.LittleEndian.AppendUint64(b, s.Sum)
}

func parseSmall(s *small, b []byte) error {
	if len(b) != 12 {
		return errors.New("twelve bytes are a state")
	}
	s.Frame, s.Sum = int32(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint64(b[4:])
	return nil
}

func syncTest(t *testing.T, g Game[small, uint16], change func(c *SyncConfig[small, uint16])) *SyncTest[small, uint16] {
	t.Helper()
	c := SyncConfig[small, uint16]{Game: g, Initial: new(small), Players: 2, Append: appendSmall, Parse: parseSmall, Seed: 5}
	if change != nil {
		change(&c)
	}
	st, err := NewSyncTest(c)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// buttons is play that changes now and then.
func buttons(frame int32, player int) uint16 {
	x := uint32(frame/5+1) * 2654435761 * uint32(player+3)
	return uint16(x >> 20)
}

// Sound games pass at every depth and with every number of players, by assignment and through bytes.
func TestSyncTestPasses(t *testing.T) {
	for _, g := range []Game[small, uint16]{smallGame{}, dull{}, knowing{}} {
		for _, depth := range []int{1, 8, MaxSyncDepth} {
			for players := 1; players <= MaxPlayers; players++ {
				for _, parse := range []func(*small, []byte) error{nil, parseSmall} {
					st := syncTest(t, g, func(c *SyncConfig[small, uint16]) { c.Depth, c.Players, c.Parse = depth, players, parse })
					if err := st.Run(100, buttons); err != nil {
						t.Fatalf("%T depth %d players %d: %v", g, depth, players, err)
					}
				}
			}
		}
	}
}

// The games below each break one rule.
type (
	counting   struct{ steps *uint64 }    // a counter outside the state
	mapping    struct{ m map[int]uint64 } // the order of a map shows
	partial    struct{ smallGame }        // the policy changes the state
	moody      struct{ calls *uint64 }    // the hash is not one of the state
	prying     struct{ smallGame }        // looking changes the state
	boasting   struct{ smallGame }        // claims that no input ever matters
	remembered struct{ last *[8]uint16 }  // previous words kept outside the state
	doubting   struct{ smallGame }        // nothing is equal to anything
	chattering struct{ smallGame }        // one event twice
)

func (g counting) Step(s *small, in []Input[uint16], p Policy) {
	*g.steps++
	smallGame{}.Step(s, in, p)
	s.Sum += *g.steps
}
func (counting) Hash(s *small) uint64 { return s.Sum }

func (g mapping) Step(s *small, in []Input[uint16], p Policy) {
	smallGame{}.Step(s, in, p)
	for _, v := range g.m {
		s.Sum = s.Sum*31 + v
	}
}
func (mapping) Hash(s *small) uint64 { return s.Sum }

func (partial) Step(s *small, in []Input[uint16], p Policy) {
	smallGame{}.Step(s, in, p)
	if p == Emit {
		s.Sum++
	}
}

func (moody) Step(s *small, in []Input[uint16], p Policy) { smallGame{}.Step(s, in, p) }
func (g moody) Hash(s *small) uint64                      { *g.calls++; return s.Sum + *g.calls }

func (prying) Free(s *small) bool { s.Sum++; return false }

func (boasting) Equivalent(*small, int, Input[uint16], Input[uint16]) bool { return true }

func (g remembered) Step(s *small, in []Input[uint16], p Policy) {
	smallGame{}.Step(s, in, p)
	for i, x := range in {
		s.Sum += uint64(g.last[i]) << 8
		g.last[i] = x.Now
	}
}
func (remembered) Hash(s *small) uint64 { return s.Sum }

func (doubting) Equal(a, b *small) bool { return false }

func (chattering) Events(_ *small, dst []uint64) []uint64 { return append(dst, 7, 7) }

// bevy_ggrs#108: what is not in the saved state is found, with the frame and the byte.
func TestSyncTestFindsPlantedFaults(t *testing.T) {
	scatter := map[int]uint64{}
	for i := range 40 {
		scatter[i] = uint64(i) * 7919
	}
	forget := func(c *SyncConfig[small, uint16]) {
		c.Append = func(b []byte, s *small) []byte { return binary.LittleEndian.AppendUint32(b, uint32(s.Frame)) }
		c.Parse = func(s *small, b []byte) error { s.Frame = int32(binary.LittleEndian.Uint32(b)); return nil }
	}
	for _, c := range []struct {
		name   string
		game   Game[small, uint16]
		change func(*SyncConfig[small, uint16])
		want   SyncFault
		offset int
	}{
		{"a counter outside the state", counting{new(uint64)}, nil, SyncStep, 4},
		{"previous words outside the state", remembered{new([8]uint16)}, nil, SyncStep, -1},
		{"the order of a map", mapping{scatter}, nil, SyncStep, -1},
		{"a policy that changes the state", partial{}, nil, SyncStep, 4},
		{"a field that is not encoded", smallGame{}, forget, SyncHash, -1},
		{"a field that is encoded and not read", smallGame{}, func(c *SyncConfig[small, uint16]) {
			c.Parse = func(s *small, b []byte) error { s.Sum = binary.LittleEndian.Uint64(b[4:]); return nil }
		}, SyncRestore, -1},
		{"bytes that cannot be read back", smallGame{}, func(c *SyncConfig[small, uint16]) {
			c.Append = func(b []byte, s *small) []byte { return append(appendSmall(b, s), 0) }
		}, SyncParse, -1},
		{"a hash of something else", moody{new(uint64)}, nil, SyncHash, -1},
		{"looking changes the state", prying{}, nil, SyncWatcher, 4},
		{"an input that does matter", boasting{}, nil, SyncEquivalent, 4},
		{"nothing is equal", doubting{}, nil, SyncEqual, -1},
		{"one event twice", chattering{}, nil, SyncEvents, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := syncTest(t, c.game, c.change).Run(60, buttons)
			var e *SyncError
			if !errors.As(err, &e) || e.Fault != c.want {
				t.Fatalf("found %v", err)
			}
			if c.offset >= 0 && (e.Offset != c.offset || e.Different == 0 || string(e.Was) == string(e.Is)) {
				t.Errorf("offset %d, %d bytes, % x was % x", e.Offset, e.Different, e.Is, e.Was)
			}
			if e.Frame > 20 {
				t.Errorf("found at frame %d only", e.Frame)
			}
			if e.Error() == "" || e.Fault.String() == "" {
				t.Error("without a sentence")
			}
		})
	}
}

func TestSyncTestConfig(t *testing.T) {
	good := SyncConfig[small, uint16]{Game: smallGame{}, Initial: new(small), Players: 2, Append: appendSmall}
	for name, change := range map[string]func(c *SyncConfig[small, uint16]){
		"no game":     func(c *SyncConfig[small, uint16]) { c.Game = nil },
		"no state":    func(c *SyncConfig[small, uint16]) { c.Initial = nil },
		"no encoding": func(c *SyncConfig[small, uint16]) { c.Append = nil },
		"no players":  func(c *SyncConfig[small, uint16]) { c.Players = 0 },
		"5 players":   func(c *SyncConfig[small, uint16]) { c.Players = 5 },
		"too deep":    func(c *SyncConfig[small, uint16]) { c.Depth = MaxSyncDepth + 1 },
	} {
		c := good
		change(&c)
		if _, err := NewSyncTest(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	st, err := NewSyncTest(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Frame(1); !errors.Is(err, ErrConfig) {
		t.Errorf("one word for two players: %v", err)
	}
}
