package natpunch

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueueDropsOldest(t *testing.T) {
	var drops Drops
	q := newQueue(&drops)
	for i := range queueSlots + 10 {
		q.push([]byte{byte(i)})
	}
	if n := drops.Count(DropQueue); n != 10 {
		t.Errorf("%d dropped, want 10", n)
	}
	b := make([]byte, 10)
	for i := range queueSlots {
		n, err := q.pop(b)
		if err != nil || n != 1 || b[0] != byte(i+10) {
			t.Fatalf("slot %d: %d %v %d", i, n, err, b[0])
		}
	}
}

func TestQueueDeadlineWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drops Drops
		q := newQueue(&drops)
		result := make(chan error, 1)
		read := func() { _, err := q.pop(make([]byte, 1)); result <- err }

		go read()
		synctest.Wait()
		q.setDeadline(time.Unix(1, 0)) // long ago wakes a blocked read
		if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		q.push([]byte{1})
		if _, err := q.pop(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a passed deadline must hold until it is reset:", err)
		}
		q.setDeadline(time.Time{})
		if n, err := q.pop(make([]byte, 1)); n != 1 || err != nil {
			t.Error("data lost over a deadline:", n, err)
		}

		start := time.Now()
		q.setDeadline(start.Add(time.Second))
		go read()
		if err := <-result; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Error(err, time.Since(start))
		}

		q.setDeadline(time.Time{})
		go read()
		synctest.Wait()
		q.close()
		if err := <-result; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		q.push([]byte{1})
		if _, err := q.pop(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestQueueAllocates(t *testing.T) {
	var drops Drops
	q := newQueue(&drops)
	b, out := make([]byte, 100), make([]byte, 2000)
	if n := testing.AllocsPerRun(500, func() {
		q.push(b)
		_, _ = q.pop(out)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
