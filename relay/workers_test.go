package relay

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

// Many matches over several workers at once, each moving between sockets all the time while strangers flood: every player gets
// what its opponent says, in order, and nothing else. Run with -race this is the test of what workers share.
func TestWorkersKeepStateCorrect(t *testing.T) {
	r := start(t, Config{Workers: 4, Limits: Limits{PacketsPerSec: 1e6, BytesPerSec: 1e9, UnprovenAnswers: 1e6}})
	if canShare && r.totals().workers != 4+len(r.endpoints[0].ports())-1 {
		t.Fatalf("%d workers", r.totals().workers)
	}
	var stop atomic.Bool
	var strangers, matches sync.WaitGroup
	for range 2 {
		p := dialUDP(t, r.addr, "127.0.0.1")
		strangers.Go(func() {
			for i := uint32(0); !stop.Load(); i++ {
				p.WriteToUDPAddrPort(rendezvous.AppendData(nil, i%200, []byte("spoofed")), r.addr)
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	for channel := range uint32(24) {
		channel += 100
		matches.Go(func() { playMoving(t, r, channel) })
	}
	matches.Wait()
	stop.Store(true)
	strangers.Wait()
	n := r.totals()
	if n.dropped[dropPanic] != 0 || n.dropped[dropAmplify] != 0 || n.binds != 48 || n.moves != 24*4 {
		t.Fatalf("%d bound, %d moved, dropped %v", n.binds, n.moves, n.dropped)
	}
	if sessions, _ := r.fwd.table.count(r.clock.mono(), r.fwd.silent); sessions != 24 {
		t.Fatalf("%d sessions", sessions)
	}
}

// playMoving plays one match whose host changes its address every few datagrams.
func playMoving(t *testing.T, r *running, channel uint32) {
	hk, jk := r.token(rendezvous.SideHost, channel, byte(channel)), r.token(rendezvous.SideJoin, channel, byte(channel))
	join := dialUDP(t, r.addr, "127.0.0.1")
	join.bind(jk)
	serial := uint64(0)
	for range 5 {
		host := dialUDP(t, r.addr, "127.0.0.1")
		host.bind(hk)
		for range 20 {
			for _, x := range [][2]*udpPeer{{host, join}, {join, host}} {
				serial++
				x[0].send(rendezvous.AppendData(nil, channel, binary.LittleEndian.AppendUint64(nil, serial)))
				b := x[1].next(patience)
				if len(b) != rendezvous.DataOverhead+8 || binary.LittleEndian.Uint64(b[rendezvous.DataOverhead:]) != serial ||
					binary.LittleEndian.Uint32(b[1:]) != channel {
					t.Errorf("channel %d, number %d: got %x", channel, serial, b)
					return
				}
			}
		}
	}
}

// Attack case 12 on real sockets: while strangers send frames of unknown channels as fast as they can, another match loses
// nothing. How little it is delayed is measured by make relaybench.
func TestCase12FloodBesideMatch(t *testing.T) {
	r := start(t, Config{Workers: 2})
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(r.token(rendezvous.SideHost, 7, 1))
	join.bind(r.token(rendezvous.SideJoin, 7, 1))
	var stop atomic.Bool
	var floods sync.WaitGroup
	for range 2 {
		p := dialUDP(t, r.addr, "127.0.0.1")
		floods.Go(func() {
			b := rendezvous.AppendData(nil, 8, make([]byte, 100))
			for !stop.Load() {
				for range 32 {
					p.WriteToUDPAddrPort(b, r.addr)
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	for range 100 {
		exchange(t, 7, host, join)
		exchange(t, 7, join, host)
	}
	wait(t, "twenty thousand frames to be refused", func() bool { return r.dropped(dropDataChannel) > 20_000 })
	exchange(t, 7, host, join)
	stop.Store(true)
	floods.Wait()
	if n := r.totals(); n.sent[kindData] != 201 || n.dropped[dropSend] != 0 {
		t.Fatalf("%d forwarded, %d not sent", n.sent[kindData], n.dropped[dropSend])
	}
}

// Attack case 13: the relay is killed and started again in the middle of a relayed match. Players that register again when the
// relay is silent for half a second go on within two seconds, with the same tokens; one of them through a tunnel.
func TestCase13MatchResumes(t *testing.T) {
	dir := t.TempDir()
	r := start(t, Config{StateDir: dir})
	hk, jk := r.token(rendezvous.SideHost, 7, 1), r.token(rendezvous.SideJoin, 7, 1)
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(hk)
	join.bind(jk)
	exchange(t, 7, host, join)
	r.Close()
	<-r.done
	r.done <- nil
	down := time.Now()
	again := start(t, Config{StateDir: dir, Listen: []string{r.addr.String()}})
	for k, p := range map[*token]*udpPeer{hk: host, jk: join} {
		for b := []byte(nil); ; {
			p.send(k.frame())
			if b = p.next(500 * time.Millisecond); b == nil {
				continue
			}
			var chal rendezvous.Chal
			if rendezvous.ParseChal(b, &chal) != nil {
				break
			}
			k.Cookie = chal.Cookie
		}
	}
	exchange(t, 7, host, join)
	exchange(t, 7, join, host)
	if took := time.Since(down); took > 2*time.Second {
		t.Errorf("forwarding resumed after %v", took)
	}
	pipe := again.tunnel(t)
	pipe.bind(hk)
	carry(t, 7, pipe, join)
	carry(t, 7, join, pipe)
}

// What workers share: the table of sessions. Compare -cpu 1,2,4: with a lock for each of 64 shards workers seldom wait.
func BenchmarkForwardParallel(b *testing.B) {
	f, _, _ := pair(b)
	f.packets, f.bytes = rate{}, rate{}
	now := f.clock.mono()
	const n = 10_000
	p := unbound().port
	for c := range uint32(n) {
		c += 1000
		f.table.shard(c).m[c] = &session{expiry: ^uint32(0), sides: [2]side{
			{route: route{addr: addrOfTest(2 * c), via: p}, heard: now}, {route: route{addr: addrOfTest(2*c + 1), via: p}, heard: now},
		}}
	}
	var next atomic.Uint32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		in := unbound()
		var reply [replySpace]byte
		frame := dataFrame(100)
		i := next.Add(7919)
		for pb.Next() {
			i += 7919
			c := i%n + 1000
			binary.LittleEndian.PutUint32(frame[1:], c)
			if v := f.handle(now, in, from(in, addrOfTest(2*c+i&1)), frame, &reply); v.drop != keep {
				b.Error(reasonNames[v.drop])
				return
			}
		}
	})
}
