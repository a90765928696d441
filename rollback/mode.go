package rollback

import "backstep/rollback/quality"

// window is how many frames may be predicted.
func (c *Config) window() int32 {
	if c.Mode == quality.Delay {
		return 0
	}
	return int32(c.PredictionWindowFrames)
}

// Window is how many frames may be predicted now: 0 in delay mode.
func (s *Session[S, W]) Window() int { return int(s.window) }

// SetWindow changes how many frames may be predicted, 1 to MaxWindow, clamped; the cap follows if it is smaller.
// A smaller window holds the session until it fits again; it never rewinds. In delay mode it counts once that ends.
func (s *Session[S, W]) SetWindow(frames int) {
	s.cfg.PredictionWindowFrames = frames
	s.cfg = s.cfg.Clamped()
	s.window = s.cfg.window()
}

// Mode is the mode the session runs in.
func (s *Session[S, W]) Mode() quality.Mode { return s.cfg.Mode }

// SetMode changes the mode. In delay mode the session holds until the inputs of every frame it has predicted are
// there, and predicts no more from then on. No input is lost by a change: the words given keep their frames.
func (s *Session[S, W]) SetMode(m quality.Mode) {
	s.cfg.Mode = min(m, quality.Rollback)
	s.window = s.cfg.window()
}
