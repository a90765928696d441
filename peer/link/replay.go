package link

import "sync/atomic"

// replayed is a window of record sequence numbers that have come by, and the
// count of new ones. The DTLS library drops what fails authentication without
// a word; what came by new and was never delivered is that.
//
// It only counts and decides nothing: an outsider who sends forged records
// with sequence numbers of real ones can make the count too small, and one
// far ahead makes later repeats count as new.
type replayed struct {
	newest uint64
	seen   [replayWindow]bool
	fresh  atomic.Uint64
}

func (r *replayed) add(seq uint64) {
	switch {
	case seq > r.newest:
		for s := r.newest + 1; s < seq && s < r.newest+replayWindow; s++ {
			r.seen[s%replayWindow] = false
		}
		if seq-r.newest >= replayWindow {
			clear(r.seen[:])
		}
		r.newest = seq
	case r.newest-seq >= replayWindow:
		r.fresh.Add(1)
		return
	case r.seen[seq%replayWindow]:
		return
	}
	r.seen[seq%replayWindow] = true
	r.fresh.Add(1)
}
