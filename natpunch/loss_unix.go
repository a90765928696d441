//go:build !windows

package natpunch

import (
	"errors"
	"syscall"
)

// isLoss reports errors that say one datagram is lost and the socket is well:
// ICMP messages about earlier datagrams and full buffers.
func isLoss(err error) bool {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return false
	}
	switch e {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.EMSGSIZE, syscall.ENOBUFS, syscall.EPERM,
		syscall.EINTR, syscall.EAGAIN:
		return true
	}
	return false
}
