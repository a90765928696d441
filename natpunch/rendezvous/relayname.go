package rendezvous

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ErrRelayName is wrapped by every error of ParseRelay and RelayHostPort.
var ErrRelayName = errors.New("not a relay address")

const maxHostName = 253

// ParseRelay reads a relay as it stands in a code or on a command line: a host
// name, an IPv4 address or an IPv6 address (in brackets if a port follows), with
// an optional port. The answer is its one canonical form: lower case, addresses
// in their shortest spelling, IPv6 in brackets, the port only if it is not 3478.
func ParseRelay(text string) (string, error) {
	host, port, err := splitRelay(text)
	if err != nil {
		return "", err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == DefaultPort {
		return host, nil
	}
	return host + ":" + strconv.Itoa(int(port)), nil
}

// RelayHostPort is the form net.Dial takes: always with a port, IPv6 in brackets.
func RelayHostPort(text string) (string, error) {
	host, port, err := splitRelay(text)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

func splitRelay(text string) (host string, port uint16, err error) {
	text = strings.TrimSpace(text)
	host, portText := text, ""
	switch {
	case text == "":
		return "", 0, fmt.Errorf("%w: it is empty", ErrRelayName)
	case text[0] == '[':
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return "", 0, fmt.Errorf("%w: %q lacks its closing bracket", ErrRelayName, text)
		}
		host = text[1:end]
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
			return "", 0, fmt.Errorf("%w: %q in brackets is not an IPv6 address", ErrRelayName, host)
		}
		if rest := text[end+1:]; rest != "" {
			if rest[0] != ':' {
				return "", 0, fmt.Errorf("%w: only a port may follow the bracket in %q", ErrRelayName, text)
			}
			portText = rest
		}
	case strings.Count(text, ":") == 1:
		i := strings.IndexByte(text, ':')
		host, portText = text[:i], text[i:]
	}
	port = DefaultPort
	if portText != "" {
		n, err := strconv.ParseUint(portText[1:], 10, 16)
		if err != nil || n == 0 || portText[1] == '0' {
			return "", 0, fmt.Errorf("%w: %q is not a port", ErrRelayName, portText[1:])
		}
		port = uint16(n)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", 0, fmt.Errorf("%w: a zone in %q means nothing to the other player", ErrRelayName, host)
		}
		return a.Unmap().String(), port, nil
	}
	host = strings.ToLower(host)
	if !validHostName(host) {
		return "", 0, fmt.Errorf("%w: %q is not a host name", ErrRelayName, host)
	}
	return host, port, nil
}

// validHostName follows RFC 1123 2.1. A last label of digits only would be a
// misspelt IPv4 address.
func validHostName(h string) bool {
	if len(h) == 0 || len(h) > maxHostName {
		return false
	}
	digits := false
	for label := range strings.SplitSeq(h, ".") {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		digits = true
		for _, c := range []byte(label) {
			switch {
			case c >= '0' && c <= '9':
			case c >= 'a' && c <= 'z', c == '-':
				digits = false
			default:
				return false
			}
		}
	}
	return !digits
}
