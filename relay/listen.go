package relay

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ErrListen is wrapped when an address cannot be bound.
var ErrListen = errors.New("relay: cannot listen")

// endpoint is one listening address: a TCP listener and the UDP sockets of the same number and of the next one.
type endpoint struct {
	host string // as configured
	tcp  net.Listener
	udp  *socket
	next *socket // PORT+1, nil if it could not be bound
}

func (e *endpoint) close() {
	e.tcp.Close()
	e.udp.conn.Close()
	if e.next != nil {
		e.next.conn.Close()
	}
}

// portTries is how many ephemeral ports are tried until one is free for both protocols.
const portTries = 64

// listenAll binds every address, and only then the ports after them: those are welcome, the addresses themselves are needed.
func listenAll(addrs []string) (out []*endpoint, err error) {
	for _, a := range addrs {
		e, err := listen(a)
		if err != nil {
			for _, e := range out {
				e.close()
			}
			return nil, err
		}
		out = append(out, e)
	}
	for _, e := range out {
		if e.next == nil {
			e.bindNext()
		}
	}
	return out, nil
}

// listen binds one HOST:PORT for TCP and UDP. With port 0 the system picks a TCP port and the same number must be free for
// UDP; a number whose successor is free too is preferred, because STUN wants it.
func listen(addr string) (*endpoint, error) {
	host, port, err := splitListen(addr)
	if err != nil {
		return nil, err
	}
	if port != 0 {
		return listenPort(host, port, addr)
	}
	var last error
	var fallback *endpoint
	for range portTries {
		e, err := listenPort(host, 0, addr)
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

func listenPort(host string, port int, addr string) (*endpoint, error) {
	tcp, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("%w on TCP %s: %w", ErrListen, addr, err)
	}
	at := tcp.Addr().(*net.TCPAddr)
	udp, err := listenUDP(host, at, at.Port)
	if err != nil {
		tcp.Close()
		return nil, fmt.Errorf("%w on UDP %s: %w", ErrListen, addr, err)
	}
	return &endpoint{host: host, tcp: tcp, udp: newSocket(udp, false)}, nil
}

// bindNext binds PORT+1 for STUN, if that can be done.
func (e *endpoint) bindNext() bool {
	at := e.tcp.Addr().(*net.TCPAddr)
	if at.Port == 65535 {
		return false
	}
	c, err := listenUDP(e.host, at, at.Port+1)
	if err != nil {
		return false
	}
	e.next = newSocket(c, true)
	e.udp.sibling, e.next.sibling = e.next, e.udp
	return true
}

// listenUDP binds the address the TCP listener got, so that a host name means the same one for both.
func listenUDP(host string, at *net.TCPAddr, port int) (*net.UDPConn, error) {
	ip := at.IP
	if host == "" {
		ip = nil
	}
	network := "udp"
	switch {
	case ip == nil:
	case ip.To4() != nil:
		network = "udp4"
	case !ip.IsUnspecified():
		network = "udp6"
	}
	return net.ListenUDP(network, &net.UDPAddr{IP: ip, Port: port, Zone: at.Zone})
}
