package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"

	"backstep/peer/match"
)

// tally adds up matches.
type tally struct {
	done  line // of matches before this one
	now   line
	frame int32
}

// take looks at a running match; a frame lower than the last one seen is another match.
func (t *tally) take(l *match.Loop) {
	d := l.Driver()
	if d == nil {
		return
	}
	if f := d.Frame(); f < t.frame {
		t.next()
	}
	t.frame = d.Frame()
	st := d.Stats()
	t.now = line{Frames: int64(d.Confirmed()) + 1, Sent: st.Link.Packets.Sent, Received: st.Link.Packets.Received, Lost: st.Link.Packets.Lost,
		Recovered: st.Link.Recovered, Rollbacks: st.Session.Rollbacks, Stalls: st.Session.Stalls, Desyncs: st.Session.Desyncs}
}

// next begins another match.
func (t *tally) next() {
	t.done = t.sum()
	t.done.Matches++
	t.now, t.frame = line{}, 0
}

func (t *tally) sum() line {
	s := t.done
	s.Frames += t.now.Frames
	s.Sent += t.now.Sent
	s.Received += t.now.Received
	s.Lost += t.now.Lost
	s.Recovered += t.now.Recovered
	s.Rollbacks += t.now.Rollbacks
	s.Stalls += t.now.Stalls
	s.Desyncs += t.now.Desyncs
	return s
}

// measure adds what this process uses.
func measure(x line) line {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	x.Heap, x.Goroutines, x.RSS = m.HeapAlloc, runtime.NumGoroutine(), rss()
	return x
}

// rss is the resident memory of this process in bytes, 0 where the system does not say.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
