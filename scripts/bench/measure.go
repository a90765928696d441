package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// result is what one server did in one round. Times of the processor are nanoseconds a datagram.
type result struct {
	pacedCPU, floodCPU float64
	lost               float64 // part of the paced datagrams
	delay              delays
	floodRate          float64 // datagrams a second
	core               float64 // how much of its processor the server used in the flood
	idle               float64 // bytes a session
	hostile            delays  // with 100 000 frames a second of an unknown channel
	elsewhere          delays  // with as many sent to a socket that nobody reads: what the sending alone does to the machine
}

// perCore is what one processor would do if the generator could keep up.
func (r *result) perCore() float64 { return 1e9 / r.floodCPU }

func (r *result) line(name string) string {
	return fmt.Sprintf("%s: %.0f ns at the rate, %.0f ns in the flood of %.0f/s (%.0f %% of the processor), delay %.0f/%.0f/%.0f us, lost %.2f %%",
		name, r.pacedCPU, r.floodCPU, r.floodRate, 100*r.core, r.delay.at(.5), r.delay.at(.99), r.delay.at(.999), 100*r.lost)
}

// prepare keeps the generator off the server's processor and allows enough files.
func prepare(o *options) error {
	if o.serverCPU >= 0 && runtime.NumCPU() > 1 && os.Getenv("RELAYBENCH_PINNED") == "" {
		var cpus []string
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err
		}
		for i := range 1024 {
			if set.IsSet(i) && i != o.serverCPU {
				cpus = append(cpus, strconv.Itoa(i))
			}
		}
		path, err := exec.LookPath("taskset")
		if err != nil {
			return errors.New("taskset is not installed (package util-linux)")
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		args := append([]string{path, "-c", strings.Join(cpus, ","), self}, os.Args[1:]...)
		return syscall.Exec(path, args, append(os.Environ(), "RELAYBENCH_PINNED=1"))
	}
	need := uint64(max(o.sessions, 2*o.matches*min(1, int(o.soak)), 2*o.pairs) + 1000)
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return err
	}
	lim.Cur, lim.Max = max(lim.Cur, need), max(lim.Max, need)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("%d open files are needed (ulimit -n): %w", need, err)
	}
	return nil
}

// cpuTime returns the time all threads of a process have run.
func cpuTime(pid int) time.Duration {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	sum := time.Duration(0)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		n, _ := strconv.ParseInt(string(bytes.Fields(b)[0]), 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

// memory returns the resident bytes of a process.
func memory(pid int) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb * 1024
		}
	}
	return 0
}

func runDirect(o *options) (r result, err error) {
	all, err := connect("direct", netip.AddrPort{}, 0, o.pairs)
	if err != nil {
		return r, err
	}
	defer closeAll(all)
	_, r.delay, err = paced(all, o.payload, o.rate, o.seconds)
	return r, err
}

func runServer(o *options, name string, idle bool) (r result, err error) {
	s, err := startServer(o, name)
	if err != nil {
		return r, err
	}
	defer s.stop()
	all, err := connect(name, s.addr, 0, o.pairs)
	if err != nil {
		return r, err
	}
	defer closeAll(all)
	pid := s.cmd.Process.Pid
	if _, _, err := paced(all, o.payload, o.rate, time.Second); err != nil { // warm
		return r, err
	}
	before := cpuTime(pid)
	sent, delay, err := paced(all, o.payload, o.rate, o.seconds)
	if err != nil {
		return r, err
	}
	if len(delay) == 0 {
		return r, errors.New("nothing arrives")
	}
	r.delay, r.lost = delay, 1-float64(len(delay))/float64(sent)
	r.pacedCPU = float64(cpuTime(pid)-before) / float64(len(delay))
	before = cpuTime(pid)
	n, took, err := flood(all, o.payload, o.seconds)
	if err != nil {
		return r, err
	}
	used := cpuTime(pid) - before
	r.floodRate = float64(n) / took.Seconds()
	r.floodCPU, r.core = float64(used)/float64(n), used.Seconds()/took.Seconds()
	if name == "backstep" {
		sink, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 3, 4)})
		if err != nil {
			return r, err
		}
		r.elsewhere, err = underFlood(o, "to nobody", sink.LocalAddr().(*net.UDPAddr).AddrPort(), all)
		sink.Close()
		if err != nil {
			return r, err
		}
		if r.hostile, err = underFlood(o, "of an unknown channel", s.addr, all); err != nil {
			return r, err
		}
	}
	if idle && o.sessions > 0 {
		r.idle, err = idleMemory(o, name)
	}
	return r, err
}

// underFlood measures the delay of matches while a stranger sends frames of a channel nobody has to an address.
func underFlood(o *options, what string, to netip.AddrPort, all []match) (delays, error) {
	c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 3, 3)}, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	e, err := newEnd(c)
	if err != nil {
		return nil, err
	}
	defer e.close()
	stop, sent := make(chan struct{}), make(chan int)
	go func() { sent <- unknown(e, 100_000, stop) }()
	start := time.Now()
	_, d, err := paced(all, o.payload, o.rate, o.seconds)
	close(stop)
	fmt.Fprintf(os.Stderr, "  %.0f frames a second %s meanwhile\n", float64(<-sent)/time.Since(start).Seconds(), what)
	return d, err
}

// idleMemory returns by how much a fresh server grows with a session.
func idleMemory(o *options, name string) (float64, error) {
	s, err := startServer(o, name)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	warm, err := connect(name, s.addr, 0, 10)
	if err != nil {
		return 0, err
	}
	defer closeAll(warm)
	time.Sleep(time.Second)
	before := memory(s.cmd.Process.Pid)
	for i := range o.sessions {
		m, err := connect(name, s.addr, 10+i, 1)
		if err != nil {
			return 0, err
		}
		m[0][1].close() // the server does not know; one open file a session is enough
		defer m[0][0].close()
	}
	time.Sleep(2 * time.Second)
	return (memory(s.cmd.Process.Pid) - before) / float64(o.sessions), nil
}
