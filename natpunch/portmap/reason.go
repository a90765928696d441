package portmap

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"backstep/natpunch/gateway"
)

// reason is err for a log. The text of an error may hold addresses of this machine, its router or its outside, which no log
// of a match shows; so only what is known is named.
func reason(err error) string {
	var said []string
	for _, known := range []error{ErrSilent, ErrUseless, ErrRefused, ErrVersion, ErrMalformed, errNoService, gateway.ErrUnsupported, context.Canceled} {
		if errors.Is(err, known) {
			said = append(said, strings.TrimPrefix(known.Error(), "portmap: "))
		}
	}
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		said = append(said, "the router has nothing on that port")
	case errors.As(err, &timeout) && timeout.Timeout():
		said = append(said, "the router took too long")
	case len(said) == 0:
		return "it failed in another way; peer doctor says more"
	}
	return strings.Join(said, "; ")
}
