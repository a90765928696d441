package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"backstep/natpunch/rendezvous"

	"golang.org/x/sys/unix"
)

// clientIP is where players live, apart from the server's ports.
var clientIP = net.IPv4(127, 0, 0, 2)

// end is one player's socket. Frames sent on it start with head.
type end struct {
	fd   int
	file *os.File
	head []byte
	skip int // bytes before the payload of what arrives
	peer *end
}

func (e *end) close() { e.file.Close() }

func newEnd(c *net.UDPConn) (*end, error) {
	f, err := c.File()
	if err != nil {
		return nil, err
	}
	c.Close()
	fd := int(f.Fd())
	if err := errors.Join(unix.SetNonblock(fd, true), unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)); err != nil {
		return nil, err
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 1<<20)
	return &end{fd: fd, file: f}, nil
}

// match is two players.
type match [2]*end

func (m match) close() {
	for _, e := range m {
		if e != nil {
			e.close()
		}
	}
}

// connect opens n matches over a server that has some already; name says how it is spoken to.
func connect(name string, server netip.AddrPort, some, n int) (out []match, err error) {
	for i := range n {
		var m match
		switch name {
		case "direct":
			m, err = directMatch()
		case "backstep":
			m, err = relayMatch(server, uint32(some+i+1))
		default:
			m, err = turnMatch(server)
		}
		if err != nil {
			closeAll(out)
			return nil, err
		}
		m[0].peer, m[1].peer = m[1], m[0]
		out = append(out, m)
	}
	return out, nil
}

func closeAll(all []match) {
	for _, m := range all {
		m.close()
	}
}

func dial(to netip.AddrPort) (*net.UDPConn, error) {
	return net.DialUDP("udp4", &net.UDPAddr{IP: clientIP}, net.UDPAddrFromAddrPort(to))
}

func directMatch() (m match, err error) {
	a, err := net.ListenUDP("udp4", &net.UDPAddr{IP: clientIP})
	if err != nil {
		return m, err
	}
	at := a.LocalAddr().(*net.UDPAddr)
	b, err := dial(at.AddrPort())
	if err != nil {
		return m, err
	}
	bt := b.LocalAddr().(*net.UDPAddr)
	a.Close()
	if a, err = net.DialUDP("udp4", at, bt); err != nil {
		return m, err
	}
	return ends(a, b)
}

func ends(a, b *net.UDPConn) (m match, err error) {
	if m[0], err = newEnd(a); err != nil {
		return m, err
	}
	m[1], err = newEnd(b)
	return m, err
}

// relayMatch registers both sides of a channel.
func relayMatch(server netip.AddrPort, channel uint32) (m match, err error) {
	var c [2]*net.UDPConn
	for side := range c {
		if c[side], err = dial(server); err != nil {
			return m, err
		}
		if err = register(c[side], channel, rendezvous.Side(side)); err != nil {
			return m, err
		}
	}
	if m, err = ends(c[0], c[1]); err != nil {
		return m, err
	}
	for _, e := range m {
		e.head = rendezvous.AppendData(nil, channel, nil)
		e.skip = rendezvous.DataOverhead
	}
	return m, nil
}

var lobbyID = rendezvous.LobbyID{1, 2, 3}

func register(c *net.UDPConn, channel uint32, side rendezvous.Side) error {
	var secret [32]byte
	hex.Decode(secret[:], []byte(secretHex))
	r := rendezvous.Reg{Side: side, Channel: channel, Lobby: lobbyID, Expiry: uint32(time.Now().Add(6 * time.Hour).Unix())}
	key := rendezvous.DeriveRegKey(&secret, r.Lobby, channel, side, r.Expiry)
	b := make([]byte, 1500)
	for range 10 {
		r.Counter++
		if _, err := c.Write(rendezvous.AppendReg(nil, &r, &key)); err != nil {
			return err
		}
		c.SetReadDeadline(time.Now().Add(time.Second))
		n, err := c.Read(b)
		if err != nil {
			continue
		}
		var chal rendezvous.Chal
		var ack rendezvous.Ack
		switch {
		case rendezvous.ParseChal(b[:n], &chal) == nil:
			r.Cookie = chal.Cookie
		case rendezvous.ParseAck(b[:n], &ack) == nil:
			c.SetReadDeadline(time.Time{})
			return nil
		}
	}
	return errors.New("the relay does not acknowledge a registration")
}

// turnMatch allocates for one player and binds a channel to the other, who needs nothing.
func turnMatch(server netip.AddrPort) (m match, err error) {
	t, err := newTurn(server)
	if err != nil {
		return m, err
	}
	relayed, err := t.allocate()
	if err != nil {
		return m, err
	}
	b, err := dial(relayed)
	if err != nil {
		return m, err
	}
	if err := t.bind(b.LocalAddr().(*net.UDPAddr).AddrPort()); err != nil {
		return m, err
	}
	if m, err = ends(t.conn, b); err != nil {
		return m, err
	}
	m[0].head = binary.BigEndian.AppendUint16(nil, turnChannel)
	m[0].head = append(m[0].head, 0, 0) // the length, set by frame
	m[0].skip = 4
	return m, nil
}

// frame returns what this end sends: head and n bytes of payload.
func (e *end) frame(n int) []byte {
	b := append(append([]byte(nil), e.head...), make([]byte, n)...)
	if len(e.head) == 4 {
		binary.BigEndian.PutUint16(b[2:], uint16(n))
	}
	return b
}
