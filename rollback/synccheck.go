package rollback

import (
	"bytes"
	"fmt"
)

// SyncFault is what a SyncTest found.
type SyncFault uint8

const (
	SyncStep       SyncFault = iota // a frame stepped again from its restored state came out differently
	SyncRestore                     // a restored state differs from the one that was saved
	SyncParse                       // a saved state could not be read
	SyncHash                        // states with the same bytes have different hashes
	SyncWatcher                     // Hash, Free, Events or Equivalent changed the state they were shown
	SyncEquivalent                  // Equivalent said that an input makes no difference, and it did
	SyncEqual                       // Equal says that a state differs from a copy of itself
	SyncEvents                      // a frame emitted more than MaxEvents events, or one id twice
)

var syncFaultText = [...]string{
	"stepped again it is different", "restored it is different", "it cannot be read back", "same bytes, different hashes",
	"looking at it changed it", "Equivalent says the input makes no difference, and it does",
	"Equal says it differs from a copy of itself", "its events are too many or have one id twice",
}

func (f SyncFault) String() string {
	if int(f) < len(syncFaultText) {
		return syncFaultText[f]
	}
	return "unknown fault"
}

// syncExcerpt is how many bytes from the first different one on an error shows.
const syncExcerpt = 16

// SyncError says in which frame, and at which byte of the encoded state, a game went its own way.
type SyncError struct {
	Fault    SyncFault
	Frame    int32 // label of the state
	Restored int32 // label that was gone back to
	Player   int   // whose input, for SyncEquivalent

	Offset    int    // of the first byte that differs, for faults that compare bytes
	Different int    // bytes that differ
	Was, Is   []byte // up to 16 bytes from Offset on, the first time and now
	Hashes    [2]uint64
	Err       error // what Parse said
}

func (e *SyncError) Error() string {
	text := fmt.Sprintf("rollback: sync test: state %d, from %d on: %v", e.Frame, e.Restored, e.Fault)
	switch {
	case e.Fault == SyncEquivalent:
		text = fmt.Sprintf("rollback: sync test: state %d: player %d: %v", e.Frame, e.Player, e.Fault)
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", text, e.Err)
	case e.Fault == SyncHash:
		return fmt.Sprintf("%s: %016x and %016x", text, e.Hashes[0], e.Hashes[1])
	}
	if e.Different > 0 {
		text = fmt.Sprintf("%s: %d bytes differ, the first at offset %d: % x was % x", text, e.Different, e.Offset, e.Is, e.Was)
	}
	return text
}

func (e *SyncError) Unwrap() error { return e.Err }

// differing describes how two encodings differ. Bytes that only one of them has count as different.
func differing(fault SyncFault, restored, label int32, was, is []byte) *SyncError {
	e := &SyncError{Fault: fault, Frame: label, Restored: restored, Offset: -1}
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			if e.Offset < 0 {
				e.Offset = i
			}
			e.Different++
		}
	}
	excerpt := func(b []byte) []byte {
		from := min(max(e.Offset, 0), len(b))
		return bytes.Clone(b[from:min(from+syncExcerpt, len(b))])
	}
	e.Was, e.Is = excerpt(was), excerpt(is)
	return e
}

// watchers calls what only looks at a state, and checks that it did.
func (t *SyncTest[S, W]) watchers() error {
	i := t.at(t.frame)
	if h := t.cfg.Game.Hash(&t.live); h != t.hashes[i] {
		return &SyncError{Fault: SyncHash, Frame: t.frame, Restored: t.frame, Hashes: [2]uint64{t.hashes[i], h}}
	}
	if t.freer != nil {
		t.freer.Free(&t.live)
	}
	if t.events != nil {
		t.ids = t.events.Events(&t.live, t.ids[:0])
		if len(t.ids) > MaxEvents || repeats(t.ids) {
			return &SyncError{Fault: SyncEvents, Frame: t.frame, Restored: t.frame}
		}
	}
	if t.equaler != nil {
		t.work = t.live
		if !t.equaler.Equal(&t.live, &t.work) {
			return &SyncError{Fault: SyncEqual, Frame: t.frame, Restored: t.frame}
		}
	}
	return t.compare(SyncWatcher, t.frame, t.frame, &t.live)
}

func repeats(ids []uint64) bool {
	for i, a := range ids {
		for _, b := range ids[:i] {
			if a == b {
				return true
			}
		}
	}
	return false
}

// guesses asks Equivalent what a session asks when the word of a player was guessed to stay as it was, and steps both
// inputs if it says that they come out the same.
func (t *SyncTest[S, W]) guesses(in []Input[W]) error {
	if t.equiv == nil {
		return nil
	}
	for p, now := range in {
		old := Input[W]{Now: now.Prev, Prev: now.Prev}
		if old == now {
			continue
		}
		if r := t.draw(); r&3 == 0 {
			// A guess may also have followed a wrong one.
			old.Prev = in[int(r>>8%uint64(len(in)))].Prev
		}
		same := t.equiv.Equivalent(&t.live, p, old, now)
		if err := t.compare(SyncWatcher, t.frame, t.frame, &t.live); err != nil {
			return err
		}
		if !same {
			continue
		}
		guessed, known := t.live, t.live
		t.cfg.Game.Step(&known, in, SuppressCosmetics)
		in[p] = old
		t.cfg.Game.Step(&guessed, in, SuppressCosmetics)
		in[p] = now
		if err := t.alike(p, &guessed, &known); err != nil {
			return err
		}
	}
	return nil
}

// alike holds two states that Equivalent called equal against each other, by Equal if the game has it.
func (t *SyncTest[S, W]) alike(player int, guessed, known *S) error {
	if t.equaler != nil && t.equaler.Equal(guessed, known) {
		return nil
	}
	a, b := t.cfg.Append(nil, guessed), t.cfg.Append(nil, known)
	if t.equaler == nil && bytes.Equal(a, b) {
		return nil
	}
	e := differing(SyncEquivalent, t.frame, t.frame+1, a, b)
	e.Player = player
	return e
}
