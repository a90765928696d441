package link

import (
	"encoding/binary"
	"hash/maphash"
	"net"
	"sync/atomic"
)

const (
	recordHeader = 13 // type 1, version 2, epoch 2, sequence 6, length 2

	typeChangeCipherSpec = 20
	typeAlert            = 21
	typeHandshake        = 22
	typeApplicationData  = 23

	// minSealed is the least body of an encrypted record: the 16-byte tag of
	// ChaCha20-Poly1305 and one byte of plaintext.
	minSealed = 17
)

// filter stands in front of the DTLS library and cuts out every record that
// an honest peer cannot have sent. Without it one forged plaintext record of
// type 23, 25 or an unknown type ends an established session, because the
// library answers it with a fatal alert.
//
// Kept: version FE FD or FE FF, a length that fits exactly, and either
// epoch 1 with type 20 < t < 24 and room for a tag, or, until the handshake
// is done, epoch 0 with type 20 or 22. Plaintext alerts never pass.
//
// A flight of the handshake may come again when it is done: the network
// repeats datagrams, and the other side repeats flights under new record
// numbers. What says the same as a record that passed is late, not forged.
type filter struct {
	done   atomic.Bool   // our handshake is done: epoch 0 is over
	forged atomic.Uint64 // records cut out
	late   atomic.Uint64 // records of the handshake that came again after it
	data   replayed      // application data that passed

	// The records of epoch 0 that passed, by type and body. One goroutine reads
	// the transport, and only it uses these.
	flights [maxFlights]uint64
	flightN int
}

// maxFlights bounds how many records of a handshake are remembered; an honest
// one has six.
const maxFlights = 32

var flightSeed = maphash.MakeSeed()

// flight names a record of the handshake by what stays the same when it is
// sent again: everything but its number.
func flight(r []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(flightSeed)
	_ = h.WriteByte(r[0])
	_, _ = h.Write(r[recordHeader:])
	return h.Sum64()
}

// remember notes a record of epoch 0 that passes.
func (f *filter) remember(r []byte) {
	if id := flight(r); f.flightN < maxFlights && !f.known(id) {
		f.flights[f.flightN] = id
		f.flightN++
	}
}

func (f *filter) known(id uint64) bool {
	for _, seen := range f.flights[:f.flightN] {
		if seen == id {
			return true
		}
	}
	return false
}

// isLate reports whether a record that may not pass is one of our handshake's.
func (f *filter) isLate(r []byte) bool {
	return r[1] == 0xFE && (r[2] == 0xFD || r[2] == 0xFF) && binary.BigEndian.Uint16(r[3:]) == 0 && f.done.Load() && f.known(flight(r))
}

// keep compacts b to the records that may pass and returns how many bytes
// they take. It works in place and does not allocate.
func (f *filter) keep(b []byte) int {
	n := 0
	for len(b[n:]) > 0 {
		rest := b[n:]
		size := recordHeader
		if len(rest) >= recordHeader {
			size += int(binary.BigEndian.Uint16(rest[11:]))
		}
		if len(rest) < size {
			// A record cut short takes everything behind it along: where the
			// next one would begin is unknown.
			f.forged.Add(1)
			return n
		}
		if f.allowed(rest[:size]) {
			switch {
			case binary.BigEndian.Uint16(rest[3:]) == 0:
				f.remember(rest[:size])
			case rest[0] == typeApplicationData:
				f.data.add(binary.BigEndian.Uint64(rest[3:]) & (1<<48 - 1))
			}
			n += size
			continue
		}
		if f.isLate(rest[:size]) {
			f.late.Add(1)
		} else {
			f.forged.Add(1)
		}
		b = append(b[:n], rest[size:]...)
	}
	return n
}

func (f *filter) allowed(r []byte) bool {
	if r[1] != 0xFE || r[2] != 0xFD && r[2] != 0xFF {
		return false
	}
	kind, epoch := r[0], binary.BigEndian.Uint16(r[3:])
	switch epoch {
	case 0:
		return !f.done.Load() && (kind == typeChangeCipherSpec || kind == typeHandshake)
	case 1:
		return kind >= typeAlert && kind <= typeApplicationData && len(r) >= recordHeader+minSealed
	}
	return false
}

// filtered is the Transport as DTLS sees it: filtered on the way in, and
// closed without closing the Transport, which outlives a failed handshake.
type filtered struct {
	Transport
	filter *filter
	closed atomic.Bool
}

// ReadFrom blocks until a datagram with at least one allowed record arrives.
func (c *filtered) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		if c.closed.Load() {
			return 0, nil, net.ErrClosed
		}
		n, from, err := c.Transport.ReadFrom(b)
		if err != nil {
			return 0, from, err
		}
		if n = c.filter.keep(b[:n]); n > 0 {
			return n, from, nil
		}
	}
}

// Close ends the reads of this attempt; the Transport stays open.
func (c *filtered) Close() error {
	c.closed.Store(true)
	return c.Transport.SetReadDeadline(longAgo)
}
