package rollback

import "testing"

// Two to four players over links that lose, delay, reorder, duplicate, damage and cut off packets, with clocks that
// drift, processes that stop, late starts and input delays that change: what is settled is what an undisturbed game
// gives, nothing hangs once the faults end, and no hash of a predicted state is ever compared (ggrs#63, #75, #97, #106,
// GekkoNet#27, openliero#81, netfox#332). SESS-12, SESS-26, S-03, X-02.
func TestRandomMatches(t *testing.T) {
	for seed := range uint64(1000) {
		if err := playRandom(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func playRandom(seed uint64) error {
	m, calm, patience, err := randomMatch(seed)
	if err != nil {
		return err
	}
	const frames = 120
	if err := m.run(frames, calm+4_000_000+frames*max(patience, 20_000)); err != nil {
		return err
	}
	return m.check(frames)
}
