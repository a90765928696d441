//go:build linux && (amd64 || arm64)

package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"backstep/natpunch/rendezvous"

	"golang.org/x/sys/unix"
)

const noConnectEnv = "BACKSTEP_TEST_NO_CONNECT"

// forbidConnect makes the kernel end this process, all its threads, when one of them calls connect(2). It needs no privilege.
func forbidConnect() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // struct seccomp_data: the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CONNECT, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// serveWithoutConnect is the child of the test below.
func serveWithoutConnect() error {
	if err := forbidConnect(); err != nil {
		fmt.Println("skip", err)
		return nil
	}
	if os.Getenv(noConnectEnv) == "connect" {
		fd, _ := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
		fmt.Println("it connected")
		return nil
	}
	s, err := New(Config{Listen: []string{"127.0.0.1:0"}, Admin: "127.0.0.1:0", Workers: 2, Limits: manyPeers, DrainLimit: -1})
	if err != nil {
		return err
	}
	fmt.Println("listening", s.Addrs()[0], s.Admin())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return s.Run(ctx)
}

// Attack case 14: the relay never dials. One on which the kernel forbids connect(2) serves a whole match: lobby, registration,
// forwarding, tunnel, self-probe.
func TestCase14NoConnectCall(t *testing.T) {
	child := func(mode string) (*exec.Cmd, io.Closer, string) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), noConnectEnv+"="+mode)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
		line, _ := bufio.NewReader(out).ReadString('\n')
		return cmd, in, line
	}
	cmd, _, line := child("connect")
	if line != "" {
		t.Skip("no seccomp here:", line)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the filter lets connect pass")
	}
	cmd, in, line := child("serve")
	var addr, admin string
	if _, err := fmt.Sscanf(line, "listening %s %s", &addr, &admin); err != nil {
		t.Fatal(line, err)
	}
	r := &running{addr: netip.MustParseAddrPort(addr)}
	_, _, hs, js := meet(t, r)
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	host.bind(tokenOf(&hs))
	jk := tokenOf(&js)
	join.bind(jk)
	exchange(t, hs.Channel, host, join)
	exchange(t, hs.Channel, join, host)
	tunnel := r.tunnel(t)
	tunnel.bind(jk)
	carry(t, hs.Channel, host, tunnel)
	carry(t, hs.Channel, tunnel, host)
	tunnel.send(rendezvous.AppendData(nil, hs.Channel+1, []byte("127.0.0.1:22")))
	tunnel.closed()
	host.send(appendStunRequest(nil, [12]byte{1}, 128))
	if host.next(patience) == nil {
		t.Fatal("no STUN answer")
	}
	if code, body := getFrom(t, admin, "/readyz"); code != 200 {
		t.Fatal(code, body)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal("the relay did not end by itself: ", err)
	}
}
