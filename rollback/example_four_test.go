package rollback_test

import (
	"fmt"
	"sort"

	"backstep/rollback"
)

// arena is 16 KB: a board that four painters colour. A word is a direction in bits 0 to 3 and bit 16 for a splash.
type arena struct {
	Board [4][64][64]uint8
	X, Y  [4]uint8
	Paint [4]uint32
}

type arenaGame struct{}

func (arenaGame) Step(s *arena, in []rollback.Input[uint32], _ rollback.Policy) {
	for p, i := range in {
		s.Y[p] = (s.Y[p] + uint8(i.Now>>1&1) - uint8(i.Now&1)) & 63
		s.X[p] = (s.X[p] + uint8(i.Now>>3&1) - uint8(i.Now>>2&1)) & 63
		layer := &s.Board[s.Paint[p]>>5&3]
		layer[s.Y[p]][s.X[p]] = uint8(p + 1)
		s.Paint[p]++
		// Pressed now and not before: the word of the last frame comes along, no state is needed for it.
		if i.Now&^i.Prev>>16&1 != 0 {
			for k := range uint8(64) {
				layer[s.Y[p]][k] = uint8(p + 1)
			}
		}
	}
}

func (arenaGame) Hash(s *arena) uint64 {
	h := uint64(14695981039346656037)
	for l := range s.Board {
		for y := range s.Board[l] {
			for _, c := range s.Board[l][y] {
				h = (h ^ uint64(c)) * 1099511628211
			}
		}
	}
	for p := range s.X {
		h = (h ^ uint64(s.X[p])<<16 ^ uint64(s.Y[p])<<8 ^ uint64(s.Paint[p])) * 1099511628211
	}
	return h
}

// mail is packets on their way: a network in memory, in virtual time.
type mail struct {
	at       int64
	from, to int
	b        []byte
}

// Four players, a state of 16 KB and words of 32 bits, each player with a link to each other, in virtual time.
func Example_fourPlayers() {
	const players, frames = 4, 240
	var drivers [players]*rollback.Driver[arena, uint32]
	var net []mail
	for p := range drivers {
		cfg := rollback.DefaultConfig()
		cfg.Players, cfg.Local = players, p
		cfg.PredictionWindowFrames, cfg.MaxRollbackFrames = 12, 12
		d, err := rollback.NewDriver(arenaGame{}, cfg, &arena{X: [4]uint8{8, 24, 40, 56}}, int64(p)*4000)
		if err != nil {
			panic(err)
		}
		drivers[p] = d
	}
	settled := func() int32 {
		least := int32(frames)
		for _, d := range drivers {
			least = min(least, d.Session().Settled())
		}
		return least
	}
	for now := int64(0); settled() < frames-1; now += 1000 {
		for len(net) > 0 && net[0].at <= now {
			_ = drivers[net[0].to].Link(net[0].from).Receive(net[0].at, net[0].b)
			net = net[1:]
		}
		for p, d := range drivers {
			if now < d.Next() {
				continue
			}
			f := d.Session().InputFrame()
			d.Tick(now, 1<<(uint32(f)/20+uint32(p))&15|uint32(f)/30&1<<16)
			for to := range drivers {
				if l := d.Link(to); l != nil && (f+int32(to))%13 != 0 { // one packet in thirteen is lost
					net = append(net, mail{now + 30_000 + int64(to+p)*3000, p, to, l.AppendPacket(nil, now)})
				}
			}
		}
		sort.SliceStable(net, func(i, j int) bool { return net[i].at < net[j].at })
	}
	first, _ := drivers[0].State(frames - 1)
	for p, d := range drivers {
		s, _ := d.State(frames - 1)
		fmt.Printf("player %d: equal %v\n", p, *s == *first)
	}
	fmt.Println("painters at", first.X, first.Y)
	// Output:
	// player 0: equal true
	// player 1: equal true
	// player 2: equal true
	// player 3: equal true
	// painters at [8 24 40 12] [0 20 0 0]
}
