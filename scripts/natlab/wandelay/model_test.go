//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

func TestModelDelays(t *testing.T) {
	m := newModel(25*time.Millisecond, 0, 0, false, rand.New(rand.NewPCG(1, 1)))
	for i := range 100 {
		now := epoch.Add(time.Duration(i) * time.Millisecond)
		if at, ok := m.next(now); !ok || at.Sub(now) != 25*time.Millisecond {
			t.Fatalf("frame %d: %v after arrival, passed on: %v", i, at.Sub(now), ok)
		}
	}
}

// Loss and jitter are what was asked for, within five standard errors of 20 000 frames.
func TestModelLossAndJitter(t *testing.T) {
	const frames, loss, jitter = 20_000, 10.0, 3 * time.Millisecond
	m := newModel(25*time.Millisecond, jitter, loss, true, rand.New(rand.NewPCG(7, 7)))
	lost, sum, squares := 0, 0.0, 0.0
	for i := range frames {
		now := epoch.Add(time.Duration(i) * 16 * time.Millisecond)
		at, ok := m.next(now)
		if !ok {
			lost++
			continue
		}
		d := float64(at.Sub(now) - 25*time.Millisecond)
		sum += d
		squares += d * d
	}
	if want := frames * loss / 100; math.Abs(float64(lost)-want) > 5*math.Sqrt(want*0.9) {
		t.Errorf("%d of %d lost, want about %.0f", lost, frames, want)
	}
	n := float64(frames - lost)
	if mean := sum / n; math.Abs(mean) > 5*float64(jitter)/math.Sqrt(n) {
		t.Errorf("jitter shifts the mean by %v", time.Duration(mean))
	}
	if dev := math.Sqrt(squares / n); math.Abs(dev/float64(jitter)-1) > 0.03 {
		t.Errorf("deviation %v, want %v", time.Duration(dev), jitter)
	}
}

func TestModelKeepsOrder(t *testing.T) {
	for _, reorder := range []bool{false, true} {
		m := newModel(25*time.Millisecond, 10*time.Millisecond, 0, reorder, rand.New(rand.NewPCG(3, 3)))
		swapped, last := 0, time.Time{}
		for i := range 1000 {
			at, _ := m.next(epoch.Add(time.Duration(i) * time.Millisecond))
			if at.Before(last) {
				swapped++
			}
			last = at
		}
		if (swapped > 0) != reorder {
			t.Errorf("reorder %v: %d frames overtook another", reorder, swapped)
		}
	}
}

func TestQueue(t *testing.T) {
	var q queue
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 1000 {
		q.push(frame{epoch.Add(time.Duration(r.IntN(50))), []byte{byte(i >> 8), byte(i)}})
	}
	last := frame{b: []byte{0, 0}}
	for n := 1000; n > 0; n-- {
		if q.len() != n {
			t.Fatalf("%d frames, want %d", q.len(), n)
		}
		at := q.first()
		f := q.pop()
		if f.at != at || f.at.Before(last.at) || f.at.Equal(last.at) && string(f.b) < string(last.b) {
			t.Fatalf("%v %x behind %v %x", f.at, f.b, last.at, last.b)
		}
		last = f
	}
}
