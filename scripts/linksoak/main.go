// Command linksoak plays two peers against each other over a bad network for a long time, and writes what they use.
//
//	go run ./scripts/linksoak [-for 15m] [-every 10s] [-impair delay=30ms,jitter=5ms,loss=20%,corrupt=2%,dup=2%]
//	go run ./scripts/linksoak -virtual 10h [-every 10m] [-seed 1]
//
// The first form is real: two peers and a relay in this process, sockets, DTLS, bots that play one match after the other on
// one link. The second plays the same match loops in virtual time: one match for the first quarter, so that every number of the
// wire wraps many times, then matches one after the other, with chat and blobs between them all the time. Where the first has
// damaged datagrams the second loses them: DTLS lets none through.
//
//	{"at_s":600,"matches":3,"frames":35988,"sent":…,"lost":…,"desyncs":0,"heap":…,"goroutines":…,"rss":…}
//
// is one line of either, heap being what is live after a collection, in bytes; frames and packets are those of the host. It
// exits with 1 if a match fails, if states differ, or if heap or goroutines grow.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"backstep/peer/impair"
)

func main() {
	play := flag.Duration("for", 15*time.Minute, "how long to play in real time, at least 5s")
	virtual := flag.Duration("virtual", 0, "play in virtual time for this long instead, at least 1m")
	every := flag.Duration("every", 0, "time between two lines (default 10s, virtual 10m)")
	spec := flag.String("impair", "delay=30ms,jitter=5ms,loss=20%,corrupt=2%,dup=2%", "what happens to the datagrams of both peers, see the peer's --impair")
	seed := flag.Uint64("seed", 1, "of the virtual network and its players")
	flag.Parse()
	faults, err := impair.Parse(*spec)
	switch {
	case err != nil:
	case flag.NArg() > 0 || *virtual < 0 || *virtual > 0 && *virtual < time.Minute || *virtual == 0 && *play < 5*time.Second || *every < 0:
		err = errors.New("-for must be at least 5s, -virtual at least 1m, and there are no arguments")
	case *virtual > 0 && (faults.Trace != nil || faults.BurstBad > 0 || faults.Reorder > 0):
		err = errors.New("in virtual time -impair knows delay, jitter, loss, corrupt and dup")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "linksoak:", err)
		os.Exit(2)
	}
	out := &lines{w: os.Stdout, every: *every}
	if *virtual > 0 {
		err = playVirtual(out, *virtual, faults, *seed)
	} else {
		err = playReal(out, *play, faults)
	}
	if err = errors.Join(err, out.verdict()); err != nil {
		fmt.Fprintln(os.Stderr, "linksoak:", err)
		os.Exit(1)
	}
}

// line is what is written from time to time.
type line struct {
	At         float64 `json:"at_s"`
	Matches    int     `json:"matches"`
	Frames     int64   `json:"frames"`
	Sent       int64   `json:"sent"`
	Received   int64   `json:"received"`
	Lost       int64   `json:"lost"`
	Recovered  int64   `json:"recovered"`
	Rollbacks  int64   `json:"rollbacks"`
	Stalls     int64   `json:"stalls"`
	Desyncs    int64   `json:"desyncs"`
	Messages   uint64  `json:"messages"`
	Blobs      int     `json:"blobs"`
	Heap       uint64  `json:"heap"`
	Goroutines int     `json:"goroutines"`
	RSS        int64   `json:"rss"`
}

// lines writes them and keeps those that the verdict needs.
type lines struct {
	w     io.Writer
	every time.Duration
	all   []line
}

func (l *lines) write(x line) error {
	l.all = append(l.all, x)
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "%s\n", b)
	return err
}

// What may be added until the end is decided by what a longer match keeps: its list of hashes, and what the runtime does.
const (
	heapSlack      = 2 << 20
	goroutineSlack = 4
)

// verdict compares the last third with the third before it.
func (l *lines) verdict() error {
	n := len(l.all)
	if n < 6 {
		return nil // too short to say
	}
	var before, after line
	for i, x := range l.all[n/3:] {
		into := &before
		if i >= (n-n/3)/2 {
			into = &after
		}
		into.Heap, into.Goroutines = max(into.Heap, x.Heap), max(into.Goroutines, x.Goroutines)
	}
	if after.Heap > before.Heap+before.Heap/4+heapSlack {
		return fmt.Errorf("the heap grew from %d to %d bytes", before.Heap, after.Heap)
	}
	if after.Goroutines > before.Goroutines+goroutineSlack {
		return fmt.Errorf("%d goroutines became %d", before.Goroutines, after.Goroutines)
	}
	return nil
}
