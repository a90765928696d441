package natpunch

import (
	"errors"
	"syscall"
)

// Winsock's numbers for what isLoss of the other systems lists. The most
// frequent is 10054: an ICMP port unreachable for something we sent fails the
// next read.
const (
	wsaEMSGSIZE     = syscall.Errno(10040)
	wsaENETDOWN     = syscall.Errno(10050)
	wsaENETUNREACH  = syscall.Errno(10051)
	wsaENETRESET    = syscall.Errno(10052)
	wsaECONNRESET   = syscall.Errno(10054)
	wsaENOBUFS      = syscall.Errno(10055)
	wsaECONNREFUSED = syscall.Errno(10061)
	wsaEHOSTDOWN    = syscall.Errno(10064)
	wsaEHOSTUNREACH = syscall.Errno(10065)
)

// isLoss reports errors that say one datagram is lost and the socket is well.
func isLoss(err error) bool {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return false
	}
	switch e {
	case wsaEMSGSIZE, wsaENETDOWN, wsaENETUNREACH, wsaENETRESET, wsaECONNRESET, wsaENOBUFS,
		wsaECONNREFUSED, wsaEHOSTDOWN, wsaEHOSTUNREACH:
		return true
	}
	return false
}
