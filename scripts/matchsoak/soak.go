package main

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// failure is a match that broke a promise, and how it was played.
type failure struct {
	seed    uint64
	err     error
	frames  int
	without faults
}

// command repeats the match.
func (f failure) command(files []string) string {
	c := fmt.Sprintf("go run ./scripts/matchsoak -n 1 -seed %d -frames %d", f.seed, f.frames)
	if f.without != 0 {
		c += " -without " + f.without.String()
	}
	for _, t := range files {
		c += " -trace " + t
	}
	return c
}

// result is what a soak comes to.
type result struct {
	played              int
	frames              int64 // settled by all players of a match, over all matches
	elapsed             time.Duration
	liveFirst, liveLast uint64 // bytes, after a collection
	failed              *failure
}

func (r result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d matches, %d frames settled by every player of them, in %.1f s: %.0f matches a minute", r.played, r.frames, r.elapsed.Seconds(),
		float64(r.played)/r.elapsed.Minutes())
	if r.failed == nil {
		b.WriteString(", 0 violations")
	}
	return b.String()
}

// warmMatches are played before the memory is measured for the first time.
const warmMatches = 200

// grown reports whether more memory stays live the longer it runs.
func (r result) grown() bool { return r.liveLast > r.liveFirst+4<<20 }

// soak plays o.n matches and stops at the first that fails: of several that fail at once, the one with the lowest seed.
func soak(o options) result {
	start := time.Now()
	var r result
	warm := min(warmMatches, o.n)
	r.run(o, o.first, warm)
	r.liveFirst = live()
	r.run(o, o.first+uint64(warm), o.n-warm)
	r.liveLast = live()
	r.elapsed = time.Since(start)
	return r
}

func (r *result) run(o options, first uint64, n int) {
	if r.failed != nil {
		return
	}
	var next, played, frames atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range o.jobs {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				seed := first + uint64(i)
				settled, err := playSeed(o, seed)
				played.Add(1)
				frames.Add(int64(settled))
				if err != nil {
					next.Store(int64(n))
					mu.Lock()
					if r.failed == nil || seed < r.failed.seed {
						r.failed = &failure{seed, err, o.frames, o.without}
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	r.played += int(played.Load())
	r.frames += frames.Load()
}

// playSeed plays one match. A panic is a failure like any other.
func playSeed(o options, seed uint64) (settled int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	m, err := newMatch(newPlan(seed, o.frames, o.without, o.traces))
	if err != nil {
		return 0, err
	}
	if err = m.run(); err == nil {
		err = m.judge()
	}
	return m.settled(), err
}

// reduce leaves out every fault without which the match still fails, and as many frames.
func reduce(o options, seed uint64) failure {
	try := func(frames int, without faults) error {
		x := o
		x.frames, x.without = frames, without
		_, err := playSeed(x, seed)
		return err
	}
	f := failure{seed, try(o.frames, o.without), o.frames, o.without}
	for k := range faultCount {
		if err := try(f.frames, f.without|1<<k); err != nil && !f.without.has(k) {
			f.without, f.err = f.without|1<<k, err
		}
	}
	for n := f.frames / 2; n > 0; n /= 2 {
		for f.frames > n {
			err := try(f.frames-n, f.without)
			if err == nil {
				break
			}
			f.frames, f.err = f.frames-n, err
		}
	}
	return f
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
