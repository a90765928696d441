package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pion/stun/v3"
)

// turnClient speaks just enough TURN (RFC 8656) for one allocation with one channel, over a socket that the load then uses.
//
//	Allocate -> 401 realm, nonce -> Allocate, signed -> relayed address
//	ChannelBind 0x4000 to the other player's address (which makes the permission too)
//	ChannelData  channel u16 | length u16 | payload
type turnClient struct {
	conn  *net.UDPConn
	nonce stun.Nonce
	realm stun.Realm
}

const turnChannel = 0x4000

func newTurn(server netip.AddrPort) (*turnClient, error) {
	c, err := net.DialUDP("udp4", &net.UDPAddr{IP: clientIP}, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return nil, err
	}
	return &turnClient{conn: c}, nil
}

func (t *turnClient) close() { t.conn.Close() }

// ask sends a request until it is answered.
func (t *turnClient) ask(m *stun.Message) (*stun.Message, error) {
	b := make([]byte, 1500)
	for range 5 {
		if _, err := t.conn.Write(m.Raw); err != nil && !errors.Is(err, net.ErrClosed) {
			time.Sleep(50 * time.Millisecond)
		}
		t.conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := t.conn.Read(b)
		if err != nil {
			continue
		}
		r := &stun.Message{Raw: append([]byte(nil), b[:n]...)}
		if r.Decode() == nil && r.TransactionID == m.TransactionID {
			t.conn.SetReadDeadline(time.Time{})
			return r, nil
		}
	}
	return nil, errors.New("no answer to a TURN request")
}

// signed sends a request with credentials.
func (t *turnClient) signed(method stun.Method, attrs ...stun.Setter) (*stun.Message, error) {
	for range 3 {
		all := append([]stun.Setter{stun.TransactionID, stun.NewType(method, stun.ClassRequest)}, attrs...)
		if len(t.nonce) > 0 {
			all = append(all, stun.NewUsername(user), t.realm, t.nonce,
				stun.NewLongTermIntegrity(user, string(t.realm), password))
		}
		m, err := stun.Build(append(all, stun.Fingerprint)...)
		if err != nil {
			return nil, err
		}
		r, err := t.ask(m)
		if err != nil {
			return nil, err
		}
		if r.Type.Class == stun.ClassSuccessResponse {
			return r, nil
		}
		var code stun.ErrorCodeAttribute
		code.GetFrom(r)
		if code.Code != stun.CodeUnauthorized && code.Code != stun.CodeStaleNonce {
			return nil, fmt.Errorf("TURN answers %s", code)
		}
		t.nonce, t.realm = nil, nil
		if err := errors.Join(t.nonce.GetFrom(r), t.realm.GetFrom(r)); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("TURN does not accept the credentials")
}

type attribute struct {
	kind  stun.AttrType
	value []byte
}

func (a attribute) AddTo(m *stun.Message) error {
	m.Add(a.kind, a.value)
	return nil
}

func (t *turnClient) allocate() (netip.AddrPort, error) {
	const udp = 17
	r, err := t.signed(stun.MethodAllocate, attribute{stun.AttrRequestedTransport, []byte{udp, 0, 0, 0}},
		attribute{stun.AttrLifetime, binary.BigEndian.AppendUint32(nil, 3600)})
	if err != nil {
		return netip.AddrPort{}, err
	}
	var x stun.XORMappedAddress
	if err := x.GetFromAs(r, stun.AttrXORRelayedAddress); err != nil {
		return netip.AddrPort{}, err
	}
	ip, _ := netip.AddrFromSlice(x.IP.To4())
	return netip.AddrPortFrom(ip, uint16(x.Port)), nil
}

// xorPeer is an XOR-PEER-ADDRESS.
type xorPeer netip.AddrPort

func (x xorPeer) AddTo(m *stun.Message) error {
	a := netip.AddrPort(x)
	return stun.XORMappedAddress{IP: a.Addr().AsSlice(), Port: int(a.Port())}.AddToAs(m, stun.AttrXORPeerAddress)
}

func (t *turnClient) bind(peer netip.AddrPort) error {
	_, err := t.signed(stun.MethodChannelBind, attribute{stun.AttrChannelNumber, []byte{turnChannel >> 8, turnChannel & 255, 0, 0}}, xorPeer(peer))
	return err
}
