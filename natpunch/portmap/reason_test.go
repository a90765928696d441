package portmap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"syscall"
	"testing"
)

// What a log says about a failed mapping holds no address, whatever the error's own text holds.
func TestReasonsHoldNoAddress(t *testing.T) {
	refused := &net.OpError{Op: "read", Net: "udp", Source: &net.UDPAddr{IP: net.IPv4(10, 1, 0, 2), Port: 4}, Addr: &net.UDPAddr{IP: net.IPv4(10, 1, 0, 1), Port: 5351}, Err: os.NewSyscallError("recvfrom", syscall.ECONNREFUSED)}
	for _, err := range []error{
		fmt.Errorf("NAT-PMP: portmap: %w", refused),
		errors.Join(fmt.Errorf("portmap: %w", refused), ErrSilent),
		fmt.Errorf("portmap: the router says its outside address is %q", "203.0.113.9"),
		fmt.Errorf("portmap: Get http://10.1.0.1:5000/root.xml: %w", os.ErrDeadlineExceeded),
		fmt.Errorf("UPnP: %w", errNoService),
	} {
		got := reason(err)
		if got == "" || regexp.MustCompile(`\d+\.\d+|:\d+`).MatchString(got) {
			t.Errorf("%v: %q", err, got)
		}
	}
	if got := reason(errors.Join(refused, ErrSilent)); got != "the router does not answer; the router has nothing on that port" {
		t.Errorf("%q", got)
	}
}
