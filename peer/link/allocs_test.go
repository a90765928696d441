package link

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"testing"

	"backstep/fec"
	"backstep/natpunch"
	"backstep/peer/channel"
	"backstep/peer/dialog"
	"backstep/peer/match"
	"backstep/peer/setup"
	"backstep/rollback/wire"
	"backstep/sim"
)

// road is one end of a lossy path in virtual time and fixed memory. Of the
// PacketConn only what a Link calls while it lives is there.
type road struct {
	net.PacketConn
	other   *road
	rng     *rand.Rand
	loss    float64
	now     int64
	slot    [256]onRoad
	head, n int
	plans   int
	proven  int
}

type onRoad struct {
	at   int64
	size int
	body [recordOverhead + 1 + wire.MaxPacket]byte
}

func (r *road) put(b []byte) {
	if o := r.other; o.n < len(o.slot) {
		s := &o.slot[(o.head+o.n)%len(o.slot)]
		s.at, s.size = r.now+40_000, copy(s.body[:], b)
		o.n++
	}
}

func (r *road) WriteTo(b []byte, _ net.Addr) (int, error) {
	if r.rng.Float64() >= r.loss {
		r.put(b)
	}
	return len(b), nil
}

func (r *road) ReadFrom(b []byte) (int, net.Addr, error) {
	if r.n == 0 || r.slot[r.head].at > r.now {
		return 0, nil, os.ErrDeadlineExceeded
	}
	n := copy(b, r.slot[r.head].body[:r.slot[r.head].size])
	r.head, r.n = (r.head+1)%len(r.slot), r.n-1
	return n, opponent{}, nil
}

// Plan takes both paths for one packet in eight, as while a path is tried.
func (r *road) Plan(int64) natpunch.Mask {
	if r.plans++; r.plans%8 == 0 {
		return natpunch.Relay | natpunch.Direct
	}
	return natpunch.Direct
}
func (r *road) Select(natpunch.Mask)               {}
func (r *road) Authenticated(natpunch.Mask, int64) { r.proven++ }

// unsealed stands in for the DTLS library: records of the same form and
// length, without a cipher.
type unsealed struct {
	under   *filtered
	seq     uint64
	out, in [recordOverhead + 1 + wire.MaxPacket]byte
}

func (u *unsealed) Write(b []byte) (int, error) {
	u.seq++
	d := append(u.out[:0], typeApplicationData, 0xFE, 0xFD)
	d = binary.BigEndian.AppendUint64(d, 1<<48|u.seq)
	d = binary.BigEndian.AppendUint16(d, uint16(len(b)+16))
	d = append(append(d, b...), make([]byte, 16)...)
	return u.under.WriteTo(d, opponent{})
}

func (u *unsealed) Read(b []byte) (int, error) {
	n, _, err := u.under.ReadFrom(u.in[:])
	if err != nil {
		return 0, err
	}
	return copy(b, u.in[recordHeader:n-16]), nil
}

func (u *unsealed) Close() error { return nil }

type walker int

func (w walker) Next(frame int32, _ *sim.World) uint16 {
	return uint16(1) << (2 + int(frame)/(5+int(w))%8)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// The whole path of a peer outside the DTLS library allocates nothing in a
// tick: match loop, session, packets, acks, repair, messages, link byte,
// paths, filter and queue, at 10 % loss, with forged records arriving.
// natpunch.TestPathsAllocates continues it down to the socket.
func TestLinkPathAllocations(t *testing.T) {
	for _, mode := range []fec.Mode{fec.Auto, fec.Off, fec.XOR, fec.RS} {
		t.Run(mode.String(), func(t *testing.T) { linkPathAllocations(t, mode) })
	}
}

func linkPathAllocations(t *testing.T, mode fec.Mode) {
	var roads [2]*road
	var links [2]*Link
	var loops [2]*match.Loop
	var talks [2]*dialog.Dialog
	window := 8
	if mode == fec.Auto {
		window = 4 // so short that at this loss a second datagram pays
	}
	now := int64(1)
	for side := range links {
		roads[side] = &road{rng: rand.New(rand.NewPCG(5, uint64(side))), loss: 0.1}
		under := &filtered{Transport: roads[side], filter: &filter{}}
		links[side] = &Link{conn: &unsealed{under: under}, under: under, now: func() int64 { return now }}
		o := match.Offer(sim.DefaultConfig(), side)
		o.Frames = 1 << 20
		su, err := setup.New(side == 0, o, zeros{})
		if err != nil {
			t.Fatal(err)
		}
		talks[side] = dialog.New(side == 0)
		loops[side] = match.New(match.Config{Side: side, Setup: su, Source: walker(side), Window: window, FEC: mode, Dialog: talks[side]}, links[side])
	}
	roads[0].other, roads[1].other = roads[1], roads[0]
	said := []byte{200, 1, 2, 3} // a topic of no meaning
	alert := record(typeAlert, 0, 1, []byte{2, 40})
	buf := make([]byte, maxRecord)
	ticks := 0
	tick := func() {
		ticks++
		for side := range links {
			if ticks%6 == 0 {
				_ = talks[side].Send(channel.MatchState, said)
			}
			roads[side].put(alert)
		}
		for end := now + 1_000_000/sim.SimulationHz; now < end; now += 1000 {
			for side, l := range links {
				roads[side].now = now
				for {
					n, err := l.conn.Read(buf)
					if err != nil {
						break
					}
					l.arrived(buf[:n], now)
				}
				loops[side].Step(now)
			}
		}
	}
	for range 600 {
		tick()
	}
	before := loops[0].Outcome().Frames
	if n := testing.AllocsPerRun(600, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	o := loops[0].Outcome()
	if n := o.Frames - before; n < 590 || o.Stats.Session.Rollbacks < 50 {
		t.Errorf("%d frames, %d rollbacks", n, o.Stats.Session.Rollbacks)
	}
	k, st := o.Stats.Link, links[0].Stats()
	if parity := mode == fec.XOR || mode == fec.RS; parity != (k.Parity > 100 && k.Recovered > 25) || k.Packets.Lost < 25 {
		t.Errorf("what was to be measured did not happen: %+v", k.Packets)
	}
	if mode == fec.Auto && k.Second < 100 {
		t.Errorf("%d second datagrams at 10 %% loss", k.Second)
	}
	if st.Forged < 1000 || st.Malformed != 0 || st.QueueDropped != 0 || roads[0].proven < 1000 {
		t.Errorf("%+v, %d authenticated", st, roads[0].proven)
	}
	if s := talks[0].Stats(); s.Received < 50 {
		t.Errorf("messages: %+v", s)
	}
}
