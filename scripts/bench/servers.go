package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"backstep/relay"

	"github.com/pion/logging"
	"github.com/pion/turn/v4"
)

const (
	user, password, realm = "bench", "bench", "bench"
	secretHex             = "5a1b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
	turnPortFirst         = 20000
	turnPortLast          = 65000
)

// serve is the child process that runs one of the Go servers until its standard input ends. It prints its address.
func serve(name string) error {
	switch name {
	case "backstep":
		return serveBackstep()
	case "pion":
		return servePion()
	}
	return fmt.Errorf("no server %q", name)
}

// serveBackstep runs the relay as it is, with the limits on single players out of the way.
func serveBackstep() error {
	dir, err := os.MkdirTemp("", "relaybench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "relay.secret"), []byte("backstep-relay-secret 1\n"+secretHex+"\n"), 0o600); err != nil {
		return err
	}
	// As cmd/relay does.
	workers := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(workers + 1)
	s, err := relay.New(relay.Config{
		Workers: workers,
		Listen:  []string{"127.0.0.1:0"}, StateDir: dir, DrainLimit: -1,
		Limits: relay.Limits{PacketsPerSec: 1e7, BytesPerSec: 1e9, UnprovenAnswers: 1e6},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println(s.Addrs()[0])
	return s.Run(ctx)
}

func servePion() error {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	key := turn.GenerateAuthKey(user, realm, password)
	log := logging.NewDefaultLoggerFactory()
	log.DefaultLogLevel = logging.LogLevelDisabled
	s, err := turn.NewServer(turn.ServerConfig{
		Realm: realm, LoggerFactory: log,
		AuthHandler: func(string, string, net.Addr) ([]byte, bool) { return key, true },
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn: c,
			RelayAddressGenerator: &turn.RelayAddressGeneratorPortRange{
				RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1", MinPort: turnPortFirst, MaxPort: turnPortLast, MaxRetries: 1000,
			},
		}},
	})
	if err != nil {
		return err
	}
	fmt.Println(c.LocalAddr())
	io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// server is a running child process.
type server struct {
	name string
	addr netip.AddrPort
	cmd  *exec.Cmd
	stop func()
}

// pinned is a command that runs on the server's processor, or on all of them if none was chosen.
func pinned(o *options, name string, args ...string) *exec.Cmd {
	if o.serverCPU < 0 {
		return exec.Command(name, args...)
	}
	return exec.Command("taskset", append([]string{"-c", strconv.Itoa(o.serverCPU), name}, args...)...)
}

// startServer starts a server on its own processor.
func startServer(o *options, name string) (*server, error) {
	if name == "coturn" {
		return startCoturn(o)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := pinned(o, self, "serve", name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{name: name, cmd: cmd, stop: func() { in.Close(); cmd.Wait() }}
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil {
		s.stop()
		return nil, fmt.Errorf("it did not start: %w", err)
	}
	s.addr, err = netip.ParseAddrPort(line)
	return s, err
}

// startCoturn starts Debian's turnserver with one relay thread, as the one core has.
func startCoturn(o *options) (*server, error) {
	path, err := exec.LookPath("turnserver")
	if err != nil {
		return nil, errors.New("turnserver is not installed: apt-get install coturn, or leave it out with -servers backstep,pion")
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	addr := c.LocalAddr().(*net.UDPAddr).AddrPort()
	c.Close()
	dir, err := os.MkdirTemp("", "relaybench")
	if err != nil {
		return nil, err
	}
	cmd := pinned(o, path, "-n",
		"--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--listening-port="+strconv.Itoa(int(addr.Port())),
		"--min-port="+strconv.Itoa(turnPortFirst), "--max-port="+strconv.Itoa(turnPortLast),
		"--lt-cred-mech", "--user="+user+":"+password, "--realm="+realm, "--allow-loopback-peers", "--no-cli", "--no-tls", "--no-dtls",
		"--no-tcp", "--no-tcp-relay", "--relay-threads=1", "--log-file=stdout", "--no-stdout-log", "--simple-log",
		"--pidfile="+filepath.Join(dir, "pid"), "--userdb="+filepath.Join(dir, "db"))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{name: "coturn", addr: addr, cmd: cmd, stop: func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	}}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		t, err := newTurn(addr)
		if err != nil {
			s.stop()
			return nil, err
		}
		if _, err = t.allocate(); err == nil {
			// Its port must not be used again: the server would take the next one for it.
			stop := s.stop
			s.stop = func() { t.close(); stop() }
			return s, nil
		}
		t.close()
	}
	s.stop()
	return nil, errors.New("it does not answer within 10 s")
}
