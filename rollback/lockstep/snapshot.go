package lockstep

import "errors"

const (
	// MaxState is the longest encoded state, in bytes.
	MaxState = 16 << 20

	snapshotEvery = 25 // frames: a second
	snapshotsKept = 8
)

// ErrNoSnapshot: no snapshot of the frame or an earlier one is kept.
var ErrNoSnapshot = errors.New("lockstep: no snapshot that old is kept")

// Snapshot is the state after the frame Label, -1 before frame 0, with all that is needed to go on from it.
type Snapshot struct {
	Label  int32
	Digest uint64
	Draws  uint64 // state of the generator
	Count  uint32 // numbers drawn
	State  []byte
}

// snapshots are the newest few, oldest first.
type snapshots struct {
	list [snapshotsKept]Snapshot
	n    int
}

// add keeps another snapshot, newer than all, in place of the oldest; state appends to the bytes it is given.
func (s *snapshots) add(label int32, digest, draws uint64, count uint32, state func([]byte) []byte) {
	if s.n == snapshotsKept {
		old := s.list[0]
		copy(s.list[:], s.list[1:])
		s.list[snapshotsKept-1] = old
		s.n--
	}
	x := &s.list[s.n]
	*x = Snapshot{label, digest, draws, count, state(x.State[:0])}
	s.n++
}

// at is the snapshot of exactly that frame, or the nearest earlier one (LOCK-19).
func (s *snapshots) at(frame int32) (*Snapshot, error) {
	for i := s.n - 1; i >= 0; i-- {
		if s.list[i].Label <= frame {
			return &s.list[i], nil
		}
	}
	return nil, ErrNoSnapshot
}

// drop forgets those from frame on.
func (s *snapshots) drop(frame int32) {
	for s.n > 0 && s.list[s.n-1].Label >= frame {
		s.n--
	}
}

// incoming is a snapshot being fetched.
type incoming struct {
	wanted int32 // the host is asked for this label or the nearest earlier one
	snap   Snapshot
	got    []bool // chunks
	left   int
	active bool
	sentAt int64
}

func (in *incoming) begin(wanted int32) {
	*in = incoming{wanted: wanted, active: true, sentAt: -1 << 62, got: in.got[:0], snap: Snapshot{State: in.snap.State[:0]}}
}

// take takes a chunk and reports whether the snapshot is whole now. Chunks of a newer label than the one begun with
// start it anew, older ones are ignored.
func (in *incoming) take(c *chunk) (whole bool) {
	if !in.active {
		return false
	}
	s := &in.snap
	if len(in.got) == 0 || c.label > s.Label {
		n := int(c.length+chunkBytes-1) / chunkBytes
		*s = Snapshot{Label: c.label, Digest: c.digest, Draws: c.draws, Count: c.count, State: make([]byte, c.length)}
		in.got, in.left = make([]bool, n), n
	}
	if c.label != s.Label || int(c.length) != len(s.State) || c.digest != s.Digest || c.draws != s.Draws || c.count != s.Count {
		return false
	}
	if i := c.offset / chunkBytes; !in.got[i] {
		in.got[i] = true
		in.left--
		copy(s.State[c.offset:], c.bytes)
	}
	return in.left == 0
}

// missing is the offset of the first chunk that is not there.
func (in *incoming) missing() uint32 {
	for i, ok := range in.got {
		if !ok {
			return uint32(i) * chunkBytes
		}
	}
	return 0
}
