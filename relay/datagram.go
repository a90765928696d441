package relay

import (
	"backstep/natpunch/rendezvous"
)

// replySpace holds the longest answer the relay makes by itself, an acknowledgement.
const replySpace = rendezvous.AckSize

// handle decides about one datagram that came to the socket in from src, at now. An answer is built in reply. Nothing b or
// reply hold is kept. Whatever the relay says to an address that has not proven itself is at most as long as what it
// answers; a longer answer is dropped here, whoever made it.
func (f *forwarder) handle(now int64, in *socket, src route, b []byte, reply *[replySpace]byte) verdict {
	if len(b) == 0 || src.addr.Port() == 0 {
		in.stats.in(kindOther, len(b))
		return verdict{drop: dropEmpty}
	}
	var v verdict
	switch {
	case b[0] == rendezvous.FrameData && !in.port.stunSide:
		in.stats.in(kindData, len(b))
		if why := f.refused(); why != keep {
			return verdict{drop: why}
		}
		return f.data(now, src.addr, b)
	case b[0] < 4:
		in.stats.in(kindStun, len(b))
		v = f.stun(now, in.port, src, b, reply)
	case b[0] == rendezvous.FrameReg && !in.port.stunSide:
		in.stats.in(kindRegister, len(b))
		if why := f.refused(); why != keep {
			return verdict{drop: why}
		}
		v = f.register(now, src, src.addr, false, in.stats, b, reply)
	default:
		in.stats.in(kindOther, len(b))
		return verdict{drop: dropUnknownType}
	}
	if len(v.out) > len(b) {
		return verdict{drop: dropAmplify}
	}
	return v
}
