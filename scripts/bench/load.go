package main

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"backstep/natpunch/rendezvous"

	"golang.org/x/sys/unix"
)

// delays are one-way delays in nanoseconds.
type delays []int64

// at returns the delay that a part q of all do not exceed, in microseconds.
func (d delays) at(q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	return float64(d[min(len(d)-1, int(q*float64(len(d))))]) / 1000
}

// fine makes sleeps of this thread as exact as the kernel can.
func fine() {
	runtime.LockOSThread()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func sleepUntil(t time.Time) {
	if d := time.Until(t); d > 0 {
		ts := unix.NsecToTimespec(int64(d))
		unix.Nanosleep(&ts, nil)
	}
}

// paced sends rate datagrams a second, at random times as many independent players do (Poisson), and returns how many were
// sent and the delays of those that arrived.
func paced(all []match, payload, rate int, d time.Duration) (sent int, out delays, err error) {
	ends := endsOf(all)
	in, err := newInbox(ends)
	if err != nil {
		return 0, nil, err
	}
	defer in.close()
	out = make(delays, 0, int(float64(rate)*d.Seconds()*1.2)+1000)
	var done atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		fine()
		for !done.Load() {
			in.receive(20, func(delay int64) { out = append(out, delay) })
			// The kernel has stamped what arrives, so letting it gather costs no exactness and saves a wake-up for each.
			time.Sleep(time.Millisecond)
		}
	})
	var writer sync.WaitGroup
	writer.Go(func() {
		fine()
		frames := framesOf(ends, payload)
		box := new(outbox)
		next := time.Now()
		for end := next.Add(d); next.Before(end); {
			next = next.Add(time.Duration(rand.ExpFloat64() / float64(rate) * 1e9))
			if time.Until(next) > 20*time.Microsecond {
				sleepUntil(next)
			}
			i := rand.IntN(len(ends))
			sent += box.send(ends[i], frames[i], 1)
		}
	})
	writer.Wait()
	time.Sleep(100 * time.Millisecond)
	done.Store(true)
	reader.Wait()
	slices.Sort(out)
	return sent, out, nil
}

// flood keeps a window of datagrams in flight for as long as d and returns how many arrived.
func flood(all []match, payload int, d time.Duration) (arrived int, took time.Duration, err error) {
	const window = 512
	ends := endsOf(all)
	in, err := newInbox(ends)
	if err != nil {
		return 0, 0, err
	}
	defer in.close()
	frames := framesOf(ends, payload)
	box := new(outbox)
	start := time.Now()
	flying, at := 0, 0
	for time.Since(start) < d {
		for flying < window {
			n := box.send(ends[at], frames[at], 16)
			if at++; at == len(ends) {
				at = 0
			}
			if n == 0 {
				break
			}
			flying += n
		}
		n := in.receive(2, nil)
		if n == 0 {
			flying = 0 // lost
		}
		arrived += n
		flying = max(0, flying-n)
	}
	return arrived, time.Since(start), nil
}

// unknown sends rate data frames of a channel nobody has a second, from one address, until stop is closed.
func unknown(to *end, rate int, stop <-chan struct{}) (sent int) {
	fine()
	to.head = rendezvous.AppendData(nil, 0xFFFFFFF0, nil)
	frame := to.frame(100)
	box := new(outbox)
	for next := time.Now(); ; {
		select {
		case <-stop:
			return sent
		default:
		}
		next = next.Add(time.Duration(batch) * time.Second / time.Duration(rate))
		sleepUntil(next)
		sent += box.send(to, frame, batch)
	}
}

func endsOf(all []match) (out []*end) {
	for _, m := range all {
		out = append(out, m[0], m[1])
	}
	return out
}

func framesOf(ends []*end, payload int) (out [][]byte) {
	for _, e := range ends {
		out = append(out, e.frame(payload))
	}
	return out
}
