package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Content types of DTLS 1.2, RFC 6347 4.1.
const (
	typeCipherSpec  = 20
	typeAlert       = 21
	typeHandshake   = 22
	typeApplication = 23

	recordHeader    = 13 // type 1, version 2, epoch 2, sequence 6, length 2
	handshakeHeader = 12 // type 1, length 3, message 2, offset 3, fragment 3
	tagSize         = 16

	serverHello = 2
	// CipherSuite is TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256, RFC 7905, the only one the design allows.
	CipherSuite = 0xCCAC
)

// The messages of a handshake with a pre-shared key. No certificate is ever sent, and no HelloVerifyRequest.
var handshakeNames = map[byte]string{
	1: "ClientHello", serverHello: "ServerHello", 12: "ServerKeyExchange", 14: "ServerHelloDone", 16: "ClientKeyExchange",
}

// record is one DTLS record; body points into the datagram.
type record struct {
	kind     byte
	epoch    uint16
	sequence uint64
	body     []byte
	whole    []byte
}

var errRecord = errors.New("not a whole number of DTLS records")

// isRecord tells by the first byte, RFC 7983.
func isRecord(b []byte) bool { return len(b) > 0 && b[0] >= 20 && b[0] <= 63 }

// records takes a datagram apart. Every byte belongs to one of them.
func records(b []byte) ([]record, error) {
	var out []record
	for len(b) > 0 {
		if len(b) < recordHeader {
			return nil, fmt.Errorf("%w: %d bytes are left", errRecord, len(b))
		}
		size := recordHeader + int(binary.BigEndian.Uint16(b[11:]))
		if size > len(b) || size == recordHeader {
			return nil, fmt.Errorf("%w: a record of %d bytes in the last %d", errRecord, size, len(b))
		}
		out = append(out, record{
			kind: b[0], epoch: binary.BigEndian.Uint16(b[3:]), sequence: binary.BigEndian.Uint64(b[3:]) & (1<<48 - 1),
			body: b[recordHeader:size], whole: b[:size],
		})
		b = b[size:]
	}
	if len(out) == 0 {
		return nil, errRecord
	}
	return out, nil
}

// hello is what a ServerHello says; the zero value stands for none.
type hello struct {
	random [32]byte // another one in each handshake
	cipher uint16
}

// allowed reports what is wrong with a record by itself, empty for nothing, and the ServerHello in it.
func (r *record) allowed() (wrong string, h hello) {
	if v := binary.BigEndian.Uint16(r.whole[1:]); v != 0xFEFD && v != 0xFEFF {
		return fmt.Sprintf("version %04x", v), h
	}
	switch {
	case r.epoch == 0 && r.kind == typeCipherSpec:
		if len(r.body) != 1 || r.body[0] != 1 {
			return "a ChangeCipherSpec that is none", h
		}
		return "", h
	case r.epoch == 0 && r.kind == typeHandshake:
		return handshake(r.body)
	case r.epoch == 1 && r.kind >= typeAlert && r.kind <= typeApplication:
		if len(r.body) <= tagSize {
			return "an encrypted record without room for its tag", h
		}
		return "", h
	}
	return fmt.Sprintf("a record of type %d in epoch %d", r.kind, r.epoch), h
}

// handshake looks at the messages of a record in clear.
func handshake(b []byte) (wrong string, h hello) {
	for len(b) > 0 {
		if len(b) < handshakeHeader {
			return "a truncated handshake message", h
		}
		offset, size := uint24(b[6:]), uint24(b[9:])
		if handshakeNames[b[0]] == "" {
			return fmt.Sprintf("a handshake message of type %d", b[0]), h
		}
		if offset+size > uint24(b[1:]) || size > len(b)-handshakeHeader {
			return "a " + handshakeNames[b[0]] + " that is longer than its record", h
		}
		body := b[handshakeHeader : handshakeHeader+size]
		if b[0] == serverHello && offset == 0 {
			// version 2, random 32, session id lv8, cipher suite 2
			const id = 34
			if len(body) <= id || len(body) < id+1+int(body[id])+2 {
				return "a truncated ServerHello", h
			}
			h = hello{[32]byte(body[2:id]), binary.BigEndian.Uint16(body[id+1+int(body[id]):])}
			if h.cipher != CipherSuite {
				return fmt.Sprintf("cipher suite %04x", h.cipher), h
			}
		}
		b = b[handshakeHeader+size:]
	}
	return "", h
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }
