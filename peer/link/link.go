package link

import (
	"sync"
	"sync/atomic"

	"github.com/pion/dtls/v3"

	"backstep/natpunch"
	"backstep/rollback/wire"
)

// Link is an established encrypted channel. Send, Receive and Stats belong to
// one goroutine, the match loop; Close may be called from any. A Link runs
// one goroutine, which ends when the link is closed or the channel breaks.
type Link struct {
	conn   secured
	under  *filtered
	now    func() int64
	cipher string
	took   int64

	epoch  byte // of what is sent; the queue has its own
	side   side
	queue  queue
	out    [1 + wire.MaxPacket]byte
	in     [wire.MaxPacket]byte
	broken atomic.Bool
	reader sync.WaitGroup

	sent, sentBytes, refused         uint64
	received, receivedBytes, badByte atomic.Uint64
	early                            atomic.Uint64 // data records before the first delivered one
}

// secured is what a Link uses of a dtls.Conn: one record out for each Write, one in for each Read.
type secured interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	Close() error
}

// Stats are counts since the link was made. Bytes are DTLS records without
// IP, UDP and relay headers.
type Stats struct {
	Sent, SentBytes         uint64
	Received, ReceivedBytes uint64
	SendRefused             uint64 // the socket or the library refused; the same as lost
	Forged                  uint64 // records the filter cut out or authentication refused
	Late                    uint64 // records of the handshake that came again when it was done
	Malformed               uint64 // authentic, but without a legal link byte
	QueueDropped            uint64 // oldest packets given up by the full queue
	Strays                  uint64 // packets that belong to another match on this link
}

// recordOverhead is what DTLS 1.2 with ChaCha20-Poly1305 adds to a plaintext:
// 13 bytes of header and 16 of tag (RFC 7905 has no explicit nonce).
const recordOverhead = recordHeader + 16

// The match number, modulo 8, rides in bits 2 to 4 of the link byte.
const (
	epochShift = 2
	epochMask  = 7
)

// maxRecord is the largest plaintext the DTLS library hands out; an opponent
// who sends more than a packet has it counted, not the channel ended.
const maxRecord = 8192

func newLink(conn *dtls.Conn, under *filtered, now func() int64, cipher string, took int64) *Link {
	l := &Link{conn: conn, under: under, now: now, cipher: cipher, took: took}
	l.reader.Add(1)
	go l.read()
	return l
}

// Cipher names the negotiated suite.
func (l *Link) Cipher() string { return l.cipher }

// HandshakeTime is how long the handshake took, in microseconds.
func (l *Link) HandshakeTime() int64 { return l.took }

// Broken reports that the channel ended: nothing will arrive any more.
func (l *Link) Broken() bool { return l.broken.Load() }

// Send hands one wire packet of at most wire.MaxPacket bytes to the path or paths the
// Transport plans. It does not keep pkt. What the socket refuses is lost and
// counted: an unreachable or full network is no error of a datagram protocol.
func (l *Link) Send(pkt []byte) {
	if len(pkt) == 0 || len(pkt) > wire.MaxPacket {
		l.refused++
		return
	}
	plan := l.under.Plan(l.now())
	for path := natpunch.Mask(1); path <= natpunch.Direct; path <<= 1 {
		if plan&path == 0 {
			continue
		}
		d := wire.AppendDatagram(l.out[:0], wire.Path(path), pkt)
		d[0] |= l.epoch << epochShift
		l.under.Select(path)
		if _, err := l.conn.Write(d); err != nil {
			l.refused++
			continue
		}
		l.sent++
		l.sentBytes += uint64(len(d) + recordOverhead)
	}
	if l.side.due.Load() {
		l.sendSide(l.now(), plan)
	}
}

// Receive returns the oldest packet that has arrived, with the time it was
// decrypted in microseconds, or ok = false. It never blocks. The packet is
// valid until the next call.
func (l *Link) Receive() (pkt []byte, at int64, ok bool) {
	n, at, ok := l.queue.pop(l.in[:])
	return l.in[:n], at, ok
}

// Stats returns the counters so far.
func (l *Link) Stats() Stats {
	l.queue.mu.Lock()
	dropped, strays := l.queue.dropped, l.queue.strays
	l.queue.mu.Unlock()
	received := l.received.Load()
	forged := l.under.filter.forged.Load()
	if fresh := l.under.filter.data.fresh.Load(); received > 0 && fresh > l.early.Load()+received {
		forged += fresh - l.early.Load() - received
	}
	return Stats{
		Sent: l.sent, SentBytes: l.sentBytes, SendRefused: l.refused,
		Received: received, ReceivedBytes: l.receivedBytes.Load(),
		Forged: forged, Late: l.under.filter.late.Load(), Malformed: l.badByte.Load(), QueueDropped: dropped, Strays: strays,
	}
}

// SetMatch begins match number n on this link: from now on only packets that
// the opponent sends in the same match arrive, so that a late one of the match
// before cannot be taken for one of this. It belongs to the goroutine of Send.
func (l *Link) SetMatch(n int) {
	l.epoch = byte(n) & epochMask
	l.queue.begin(l.epoch)
}

// Close says goodbye to the DTLS layer of the opponent and ends the reader.
// The transport stays open.
func (l *Link) Close() error {
	err := l.conn.Close()
	l.reader.Wait()
	return err
}

func (l *Link) read() {
	defer l.reader.Done()
	defer l.broken.Store(true)
	b := make([]byte, maxRecord)
	for {
		n, err := l.conn.Read(b)
		if err != nil {
			return
		}
		l.arrived(b[:n], l.now())
	}
}

// arrived takes the plaintext of one record.
func (l *Link) arrived(b []byte, at int64) {
	// An authenticated record proves that the client has our last flight,
	// so it will not repeat its own in epoch 0.
	l.under.filter.done.Store(true)
	if l.received.Add(1) == 1 {
		// The library may drop data that overtakes the last flight.
		l.early.Store(l.under.filter.data.fresh.Load() - 1)
	}
	l.receivedBytes.Add(uint64(len(b) + recordOverhead))
	if len(b) == 0 {
		l.badByte.Add(1)
		return
	}
	if b[0]&sideBit != 0 {
		m := natpunch.Mask(b[0] &^ sideBit)
		if m != natpunch.Relay && m != natpunch.Direct || !l.side.receive(b[1:]) {
			l.badByte.Add(1)
			return
		}
		l.under.Authenticated(m, at)
		return
	}
	epoch := b[0] >> epochShift & epochMask
	b[0] &^= epochMask << epochShift
	d, err := wire.ParseDatagram(b)
	if err != nil || len(d.Packet) > wire.MaxPacket {
		l.badByte.Add(1)
		return
	}
	l.under.Authenticated(natpunch.Mask(d.Path), at)
	l.queue.push(d.Packet, at, epoch)
}
