package rollback_test

import (
	"fmt"
	"net"
	"time"

	"backstep/rollback"
)

// pong is the whole state of a game: two paddles, a ball, the score. Bits 0 and 1 of a word move a paddle up and down.
type pong struct {
	X, Y, DX, DY int16
	Paddle       [2]int16
	Score        [2]uint8
}

type pongGame struct{}

func (pongGame) Step(s *pong, in []rollback.Input[uint8], _ rollback.Policy) {
	for p, i := range in {
		s.Paddle[p] = min(max(s.Paddle[p]+2*int16(i.Now>>1&1)-2*int16(i.Now&1), 0), 100)
	}
	s.X, s.Y = s.X+s.DX, s.Y+s.DY
	if s.Y <= 0 || s.Y >= 100 {
		s.DY = -s.DY
	}
	for p, edge := range [2]int16{0, 160} {
		if s.X != edge {
			continue
		}
		if d := s.Y - s.Paddle[p]; d < -12 || d > 12 {
			s.Score[1-p]++
		}
		s.DX = -s.DX
	}
}

func (pongGame) Hash(s *pong) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range []int16{s.X, s.Y, s.DX, s.DY, s.Paddle[0], s.Paddle[1], int16(s.Score[0]), int16(s.Score[1])} {
		h = (h ^ uint64(uint16(v))) * 1099511628211
	}
	return h
}

// playPong plays frames over a socket and returns the last state, once all inputs of both players are in it.
func playPong(conn *net.UDPConn, to net.Addr, side int, frames int32) pong {
	cfg := rollback.DefaultConfig()
	cfg.Local = side
	cfg.RequireEncryptedTransport = false // plain UDP: packets with a checksum. On the internet, use a channel that encrypts.
	start := time.Now()
	now := func() int64 { return time.Since(start).Microseconds() }
	d, err := rollback.NewDriver(pongGame{}, cfg, &pong{X: 80, Y: 50, DX: 2, DY: 1}, now())
	if err != nil {
		panic(err)
	}
	buf := make([]byte, 1500)
	for d.Session().Settled() < frames-1 || d.Delivered() < frames-1 {
		// Whatever arrives before the next tick is due. Damaged and foreign packets are counted and dropped by Receive.
		_ = conn.SetReadDeadline(start.Add(time.Duration(d.Next()) * time.Microsecond))
		if n, _, err := conn.ReadFromUDP(buf); err == nil {
			_ = d.Receive(now(), buf[:n])
			continue
		}
		if d.Frame() < frames-1 {
			d.Tick(now(), uint8(d.Session().InputFrame()/40+int32(side))&3)
		} else {
			d.Settle(now())
		}
		_, _ = conn.WriteTo(d.AppendPacket(buf[:0], now()), to)
	}
	for range 3 { // the other side may still wait for our last acknowledgement
		_, _ = conn.WriteTo(d.AppendPacket(buf[:0], now()), to)
	}
	s, _ := d.State(frames - 1)
	return *s
}

// A game of somebody else's on the net: two sockets, two players, one result.
func Example() {
	var conns [2]*net.UDPConn
	for i := range conns {
		c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			panic(err)
		}
		defer c.Close()
		conns[i] = c
	}
	results := make(chan pong, 2)
	for side := range conns {
		go func() { results <- playPong(conns[side], conns[1-side].LocalAddr(), side, 90) }()
	}
	a, b := <-results, <-results
	fmt.Println("the same on both sides:", a == b)
	fmt.Printf("ball at %d,%d, paddles at %d and %d, score %d:%d\n", a.X, a.Y, a.Paddle[0], a.Paddle[1], a.Score[0], a.Score[1])
	// Output:
	// the same on both sides: true
	// ball at 60,60, paddles at 20 and 80, score 1:0
}
