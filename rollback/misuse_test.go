package rollback

import (
	"errors"
	"testing"
)

// Misuse gives an error or nothing, never a panic.
func TestMisuse(t *testing.T) {
	cfg := DefaultConfig()
	for name, make := range map[string]func() error{
		"session without a game":  func() error { _, err := NewSession[small, uint16](nil, cfg, new(small)); return err },
		"session without a state": func() error { _, err := NewSession(smallGame{}, cfg, (*small)(nil)); return err },
		"driver without a game":   func() error { _, err := NewDriver[small, uint16](nil, cfg, new(small), 0); return err },
		"driver without a state":  func() error { _, err := NewDriver(smallGame{}, cfg, (*small)(nil), 0); return err },
		"zero configuration":      func() error { _, err := NewSession(smallGame{}, Config{}, new(small)); return err },
		"sync test without words": func() error {
			st, err := NewSyncTest(SyncConfig[small, uint16]{Game: smallGame{}, Initial: new(small), Players: 2,
				Append: func(b []byte, _ *small) []byte { return b }})
			if err != nil {
				t.Fatal(err)
			}
			return st.Run(3, nil)
		},
	} {
		if err := make(); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := tiny(t, nil)
	if err := s.Restore(-1, nil); !errors.Is(err, ErrSnapshot) {
		t.Error(err)
	}
	for _, p := range []int{-1, 2, MaxPlayers, 1 << 30} {
		if _, _, ok := s.NextHash(p); ok {
			t.Errorf("a hash for player %d", p)
		}
		if _, ok := s.Desync(p); ok {
			t.Errorf("a difference from player %d", p)
		}
		if s.Agreed(p) != -1 || s.ConfirmedOf(p) != -1 {
			t.Errorf("player %d: agreed %d, confirmed %d", p, s.Agreed(p), s.ConfirmedOf(p))
		}
	}
	d, err := NewDriver(smallGame{}, cfg, new(small), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.Spent(1000, nil)
	if d.Accord().Offer(-1) != 0 || d.Accord().Offer(9) != 0 || d.Affords() < 1 {
		t.Error("offers of players there are not")
	}
}
