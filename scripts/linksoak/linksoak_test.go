package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstep/peer/impair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func faults(t *testing.T) impair.Spec {
	t.Helper()
	s, err := impair.Parse("delay=30ms,jitter=5ms,loss=20%,corrupt=2%,dup=2%")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, b *bytes.Buffer) (all []line) {
	t.Helper()
	d := json.NewDecoder(b)
	d.DisallowUnknownFields()
	for d.More() {
		var x line
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// Ten virtual minutes: several matches, a message or two a second, a blob a minute, and the same again with the same seed.
func TestVirtual(t *testing.T) {
	var outs [2]bytes.Buffer
	for i := range outs {
		l := &lines{w: &outs[i], every: time.Minute}
		if err := playVirtual(l, 10*time.Minute, faults(t), 3); err != nil {
			t.Fatal(err)
		}
		if err := l.verdict(); err != nil {
			t.Error(err)
		}
	}
	a, b := read(t, &outs[0]), read(t, &outs[1])
	if len(a) != 10 || len(b) != 10 {
		t.Fatalf("%d and %d lines", len(a), len(b))
	}
	last := a[9]
	if last.Matches < 2 || last.Frames < 34_000 || last.Lost < last.Sent/6 || last.Desyncs != 0 || last.Messages < 100 || last.Blobs < 8 || last.Rollbacks < 1000 {
		t.Errorf("%+v", last)
	}
	for i := range a {
		a[i].Heap, a[i].RSS, b[i].Heap, b[i].RSS = 0, 0, 0, 0
		if a[i] != b[i] {
			t.Errorf("line %d: %+v and %+v", i, a[i], b[i])
		}
	}
}

// A road that lets nothing through is found.
func TestVirtualStuck(t *testing.T) {
	err := playVirtual(&lines{w: &bytes.Buffer{}}, 10*time.Minute, impair.Spec{Loss: 1}, 1)
	if err == nil || !strings.Contains(err.Error(), "fell silent") {
		t.Errorf("%v", err)
	}
}

// A few seconds over real sockets.
func TestReal(t *testing.T) {
	var out bytes.Buffer
	l := &lines{w: &out, every: time.Second}
	if err := playReal(l, 4*time.Second, faults(t)); err != nil {
		t.Fatal(err)
	}
	all := read(t, &out)
	if len(all) < 3 {
		t.Fatalf("%d lines", len(all))
	}
	if last := all[len(all)-1]; last.Frames < 60 || last.Lost == 0 || last.Heap == 0 || last.Goroutines == 0 {
		t.Errorf("%+v", last)
	}
}

func TestVerdict(t *testing.T) {
	grown := func(heap uint64, goroutines int) error {
		l := &lines{w: &bytes.Buffer{}}
		for i := range 12 {
			x := line{Heap: 10 << 20, Goroutines: 50}
			if i > 8 {
				x.Heap, x.Goroutines = x.Heap+heap, x.Goroutines+goroutines
			}
			if err := l.write(x); err != nil {
				t.Fatal(err)
			}
		}
		return l.verdict()
	}
	if grown(1<<20, 2) != nil {
		t.Error("a little more is no growth")
	}
	if grown(8<<20, 0) == nil || grown(0, 10) == nil {
		t.Error("growth was not found")
	}
	if failed(line{Frames: 1, Desyncs: 1}) == nil || failed(line{}) == nil || failed(line{Frames: 1}) != nil {
		t.Error("the end of a soak is misjudged")
	}
}
