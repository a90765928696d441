package flight

import (
	"errors"
	"testing"
)

func TestQueue(t *testing.T) {
	var q Queue
	if q.Next() != Never || q.Len() != 0 {
		t.Error("the zero value is not empty")
	}
	b := []byte("x")
	for _, x := range []struct {
		at   int64
		name byte
	}{{30, 'd'}, {10, 'a'}, {20, 'b'}, {20, 'c'}, {40, 'e'}} {
		b[0] = x.name // a copy is kept
		q.Put(x.at, b)
	}
	got, times := "", []int64(nil)
	first := errors.New("first")
	err := q.Deliver(30, func(at int64, b []byte) error {
		got, times = got+string(b), append(times, at)
		if string(b) == "b" {
			return first
		}
		if string(b) == "c" {
			return errors.New("second")
		}
		return nil
	})
	if got != "abcd" || err != first || times[0] != 10 || times[3] != 30 || q.Next() != 40 || q.Len() != 1 {
		t.Errorf("%q at %v, %v; next %d", got, times, err, q.Next())
	}
}

func TestQueueReusesBuffers(t *testing.T) {
	var q Queue
	b, now := make([]byte, 40), int64(0)
	turn := func() {
		for i := range int64(5) {
			q.Put(now+i, b)
		}
		now += 5
		_ = q.Deliver(now, func(int64, []byte) error { return nil })
	}
	turn()
	if n := testing.AllocsPerRun(100, turn); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}
