package relay

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// ErrListen is wrapped when an address cannot be bound.
var ErrListen = errors.New("relay: cannot listen")

// endpoint is one listening address: a TCP listener and the UDP ports of the same number and of the next one.
type endpoint struct {
	bind netip.AddrPort // what the sockets are bound to; an address that is not valid means all of them
	tcp  net.Listener
	udp  *udpPort
	next *udpPort // PORT+1, nil if it could not be bound
}

func (e *endpoint) close() {
	e.tcp.Close()
	e.udp.close()
	if e.next != nil {
		e.next.close()
	}
}

// ports returns the UDP ports there are.
func (e *endpoint) ports() []*udpPort {
	if e.next == nil {
		return []*udpPort{e.udp}
	}
	return []*udpPort{e.udp, e.next}
}

// portTries is how many ephemeral ports are tried until one is free for both protocols.
const portTries = 64

// listenAll binds every address, and only then the ports after them: those are welcome, the addresses themselves are needed.
// Each address gets a socket for each of workers.
func listenAll(addrs []string, workers int) (out []*endpoint, err error) {
	defer func() {
		if err != nil {
			for _, e := range out {
				e.close()
			}
			out = nil
		}
	}()
	for _, a := range addrs {
		e, err := listen(a, workers > 1)
		if err != nil {
			return out, err
		}
		out = append(out, e)
		if err := e.udp.grow(e.bind, workers); err != nil {
			return out, fmt.Errorf("%w: no further worker on UDP %s: %w", ErrListen, a, err)
		}
	}
	for _, e := range out {
		if e.next == nil {
			e.bindNext()
		}
	}
	linkAlternates(out)
	spread(out, ownAddrs())
	return out, nil
}

// listen binds one HOST:PORT for TCP and UDP. With port 0 the system picks a TCP port and the same number must be free for
// UDP; a number whose successor is free too is preferred, because STUN wants it.
func listen(addr string, share bool) (*endpoint, error) {
	host, port, err := splitListen(addr)
	if err != nil {
		return nil, err
	}
	if port != 0 {
		return listenPort(host, port, addr, share)
	}
	var last error
	var fallback *endpoint
	for range portTries {
		e, err := listenPort(host, 0, addr, share)
		switch {
		case err != nil:
			last = err
		case e.bindNext():
			if fallback != nil {
				fallback.close()
			}
			return e, nil
		case fallback == nil:
			fallback = e
		default:
			e.close()
		}
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, last
}

func listenPort(host string, port int, addr string, share bool) (*endpoint, error) {
	tcp, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("%w on TCP %s: %w", ErrListen, addr, err)
	}
	// The address the TCP listener got, so that a host name means the same one for both.
	bind := addrOf(tcp.Addr())
	if host == "" {
		bind = netip.AddrPortFrom(netip.Addr{}, bind.Port())
	}
	udp, err := openPort(bind, false, share)
	if err != nil {
		tcp.Close()
		return nil, fmt.Errorf("%w on UDP %s: %w", ErrListen, addr, err)
	}
	return &endpoint{bind: bind, tcp: tcp, udp: udp}, nil
}

// bindNext binds PORT+1 for STUN, if that can be done.
func (e *endpoint) bindNext() bool {
	if e.bind.Port() == 65535 {
		return false
	}
	next, err := openPort(netip.AddrPortFrom(e.bind.Addr(), e.bind.Port()+1), true, false)
	if err != nil {
		return false
	}
	e.next = next
	e.udp.sibling, e.next.sibling = e.next, e.udp
	return true
}
