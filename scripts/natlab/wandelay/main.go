//go:build linux

// Command wandelay stands between two network interfaces and passes Ethernet frames on with delay, jitter and loss, where
// the kernel has no netem.
//
//	interface a ──> loss ──> queue, due at arrival + delay + jitter ──> interface b      and the same the other way
//
// It needs root and runs in the namespace of both interfaces; neither may be in a bridge together with the other. "ready" on
// stdout says that frames pass. Frames keep their order unless -reorder is given.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "wandelay:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("wandelay", flag.ContinueOnError)
	a := f.String("a", "", "one interface")
	b := f.String("b", "", "the other interface")
	delay := f.Duration("delay", 20*time.Millisecond, "one way")
	jitter := f.Duration("jitter", 0, "standard deviation of the delay")
	loss := f.Float64("loss", 0, "percent of the frames, each way")
	reorder := f.Bool("reorder", false, "let jitter change the order of frames")
	seed := f.Uint64("seed", 1, "of loss and jitter")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *delay < 0 || *jitter < 0 || *loss < 0 || *loss > 100 || f.NArg() > 0 {
		return fmt.Errorf("want -delay and -jitter of 0 or more and -loss between 0 and 100, and nothing else")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var ends [2]int
	for i, name := range []string{*a, *b} {
		fd, err := open(name)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		ends[i] = fd
	}
	var group sync.WaitGroup
	for i := range ends {
		m := newModel(*delay, *jitter, *loss, *reorder, rand.New(rand.NewPCG(*seed, uint64(i))))
		group.Go(func() { pass(ctx, ends[i], ends[1-i], m) })
	}
	fmt.Println("ready")
	group.Wait()
	return nil
}

// readWait is how long a read blocks before it looks whether the program ends.
const readWait = 200 * time.Millisecond

// open makes a raw socket for all frames that come in on an interface. The virtio header keeps unfinished checksums and
// segmentation, which virtual interfaces leave to the hardware they do not have, intact across the two sockets.
func open(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("interface %q: %w", name, err)
	}
	all := uint16(unix.ETH_P_ALL)<<8 | unix.ETH_P_ALL>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("packet socket: %w", err)
	}
	for _, o := range [][2]int{{unix.PACKET_VNET_HDR, 1}, {unix.PACKET_IGNORE_OUTGOING, 1}} {
		if err = unix.SetsockoptInt(fd, unix.SOL_PACKET, o[0], o[1]); err != nil {
			break
		}
	}
	if err == nil {
		// More than the queue of a burst; a smaller one still works.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 8<<20)
		wait := unix.NsecToTimeval(readWait.Nanoseconds())
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	}
	if err == nil {
		err = unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
			&unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC})
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index})
	}
	if err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("packet socket on %q: %w", name, err)
	}
	return fd, nil
}

// pass carries frames one way until ctx ends.
func pass(ctx context.Context, from, to int, m *model) {
	out := make(chan frame, 1<<14)
	var writer sync.WaitGroup
	writer.Go(func() { write(to, out) })
	defer writer.Wait()
	defer close(out)
	b := make([]byte, 1<<17)
	for ctx.Err() == nil {
		n, err := unix.Read(from, b)
		if err != nil {
			if err == unix.EAGAIN || err == unix.EINTR || err == unix.ENETDOWN {
				continue
			}
			return
		}
		at, ok := m.next(time.Now())
		if !ok {
			continue
		}
		select {
		case out <- frame{at, append([]byte(nil), b[:n]...)}:
		default: // as a router does when its queue is full
		}
	}
}

// write sends what is due. Frames that jitter brought out of order are sorted; among equals the first goes first.
func write(fd int, in <-chan frame) {
	var q queue
	timer := time.NewTimer(time.Hour)
	for in != nil || q.len() > 0 {
		wait := time.Hour
		if q.len() > 0 {
			wait = time.Until(q.first())
		}
		if wait <= 0 {
			// What the interface does not take is lost, as on any wire.
			_, _ = unix.Write(fd, q.pop().b)
			continue
		}
		timer.Reset(wait)
		select {
		case f, ok := <-in:
			if !ok {
				return // the lab ends: nobody waits for what is under way
			}
			q.push(f)
		case <-timer.C:
		}
	}
}
