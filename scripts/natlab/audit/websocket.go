package audit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
)

// message is one WebSocket message, unmasked.
type message struct {
	binary bool
	b      []byte
}

// WebSocket opcodes, RFC 6455 5.2.
const (
	opContinue = 0
	opText     = 1
	opBinary   = 2
	opClose    = 8
	opPing     = 9
	opPong     = 10
)

var errWebSocket = errors.New("not WebSocket")

// request splits what a client sends into the head of its request and the WebSocket frames behind it.
func request(b []byte) (r *http.Request, rest []byte, err error) {
	head, rest, err := cutHead(b)
	if err != nil {
		return nil, nil, err
	}
	if r, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(head))); err != nil {
		return nil, nil, fmt.Errorf("not an HTTP request: %w", err)
	}
	return r, rest, nil
}

// response does the same for what a server sends.
func response(b []byte) (status int, h http.Header, rest []byte, err error) {
	head, rest, err := cutHead(b)
	if err != nil {
		return 0, nil, nil, err
	}
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("not an HTTP response: %w", err)
	}
	return r.StatusCode, r.Header, rest, nil
}

func cutHead(b []byte) (head, rest []byte, err error) {
	const end = "\r\n\r\n"
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return nil, nil, errors.New("no end of an HTTP head")
	}
	return b[:i+len(end)], b[i+len(end):], nil
}

// messages reads all frames of one direction. masked is what RFC 6455 demands of it: true for a client. control are the bodies
// of pings, pongs and closes. A frame that the end of the stream cuts off is an error.
func messages(b []byte, masked bool) (out []message, control [][]byte, err error) {
	var open *message
	for len(b) > 0 {
		if len(b) < 2 {
			return out, control, fmt.Errorf("%w: half a frame", errWebSocket)
		}
		fin, reserved, op, mask, size := b[0]&0x80 != 0, b[0]&0x70, b[0]&15, b[1]&0x80 != 0, uint64(b[1]&0x7f)
		if reserved != 0 {
			return out, control, fmt.Errorf("%w: reserved bits %02x, so an extension changes what is sent", errWebSocket, reserved)
		}
		if mask != masked {
			return out, control, fmt.Errorf("%w: masked %v, must be %v", errWebSocket, mask, masked)
		}
		b = b[2:]
		for _, long := range [...]struct {
			mark uint64
			n    int
		}{{126, 2}, {127, 8}} {
			if size == long.mark {
				if len(b) < long.n {
					return out, control, fmt.Errorf("%w: half a length", errWebSocket)
				}
				var full [8]byte
				copy(full[8-long.n:], b)
				size, b = binary.BigEndian.Uint64(full[:]), b[long.n:]
				break
			}
		}
		var key [4]byte
		if mask {
			if len(b) < len(key) {
				return out, control, fmt.Errorf("%w: half a mask", errWebSocket)
			}
			b = b[copy(key[:], b):]
		}
		if size > uint64(len(b)) {
			return out, control, fmt.Errorf("%w: a frame of %d bytes where %d are left", errWebSocket, size, len(b))
		}
		body := bytes.Clone(b[:size])
		b = b[size:]
		for i := range body {
			body[i] ^= key[i&3]
		}
		switch {
		case op == opClose || op == opPing || op == opPong:
			if !fin || size > 125 {
				return out, control, fmt.Errorf("%w: a control frame that is too long or in pieces", errWebSocket)
			}
			control = append(control, body)
			continue
		case (op == opText || op == opBinary) && open == nil:
			open = &message{binary: op == opBinary, b: body}
		case op == opContinue && open != nil:
			open.b = append(open.b, body...)
		default:
			return out, control, fmt.Errorf("%w: opcode %d out of place", errWebSocket, op)
		}
		if fin {
			out = append(out, *open)
			open = nil
		}
	}
	if open != nil {
		return out, control, fmt.Errorf("%w: a message without end", errWebSocket)
	}
	return out, control, nil
}
