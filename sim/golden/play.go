package golden

import (
	"fmt"

	"backstep/sim"
)

// record is what playing a match gives.
type record struct {
	hashes []Hash
	final  Hash
}

// player plays a match. visit, if there is one, sees the world after every frame.
type player func(c sim.Config, words [][]uint16, visit func(*sim.World)) (record, error)

func play(c sim.Config, words [][]uint16, visit func(*sim.World)) (record, error) {
	var r record
	var w sim.World
	if err := w.Reset(c); err != nil {
		return r, err
	}
	in := make([]sim.Input, len(words))
	for f := range words[0] {
		for p := range words {
			in[p] = sim.Input{Now: words[p][f], Prev: in[p].Now}
		}
		w.Step(in, sim.Emit)
		if f%HashEvery == 0 {
			r.hashes = append(r.hashes, Hash(w.Hash()))
		}
		if visit != nil {
			visit(&w)
		}
	}
	r.final = Hash(w.Hash())
	return r, nil
}

// Make plays a match and writes down how it went. It plays it twice, each time in a fresh world; if the two differ in any hash
// there is no manifest, and the error wraps ErrUnsteady.
func Make(name, source string, c sim.Config, words [][]uint16) (*Manifest, error) {
	return makeWith(play, name, source, c, words)
}

func makeWith(play player, name, source string, c sim.Config, words [][]uint16) (*Manifest, error) {
	m := &Manifest{Schema: Schema, Name: name, Source: source, SimVersion: sim.Version, DataHash: Hash(sim.DataHash()),
		Config: spell(c), HashEvery: HashEvery, InputSHA256: inputSum(words)}
	for _, w := range words {
		m.Frames = len(w)
		m.Inputs = append(m.Inputs, runs(w))
	}
	back, err := m.words()
	if err != nil {
		return nil, err
	}
	r, err := play(c, words, nil)
	if err != nil {
		return nil, err
	}
	m.Hashes, m.FinalHash = r.hashes, r.final
	// The second time from the manifest itself, so that what was written is what is played.
	if c, err = m.Settings(); err != nil {
		return nil, err
	}
	if r, err = play(c, back, nil); err != nil {
		return nil, err
	}
	if err := m.compare(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsteady, err)
	}
	return m, nil
}

// Verify plays the match in a fresh world and compares every hash. A difference is a *Mismatch. visit may be nil.
func (m *Manifest) Verify(visit func(*sim.World)) error {
	c, err := m.Settings()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	words, err := m.words()
	if err != nil {
		return err
	}
	r, err := play(c, words, visit)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return m.compare(r)
}

func (m *Manifest) compare(r record) error {
	other := m.DataHash != Hash(sim.DataHash())
	for i, h := range m.Hashes {
		if i >= len(r.hashes) || r.hashes[i] != h {
			bad := &Mismatch{Name: m.Name, Frame: int32(i * HashEvery), Stored: uint64(h), OtherData: other}
			if i < len(r.hashes) {
				bad.Computed = uint64(r.hashes[i])
			}
			return bad
		}
	}
	if r.final != m.FinalHash {
		return &Mismatch{Name: m.Name, Frame: int32(m.Frames - 1), Stored: uint64(m.FinalHash), Computed: uint64(r.final), OtherData: other}
	}
	return nil
}

// Words gives the word of every frame by player.
func (m *Manifest) Words() ([][]uint16, error) { return m.words() }
