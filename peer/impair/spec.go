// Package impair damages the datagrams a peer sends, so that a match can be
// tried under loss, jitter and corruption on one machine.
//
// It wraps the peer's UDP socket. Everything the peer sends passes it, STUN
// and relay registration included, after encryption; nothing received and no
// TCP does. The stages run in this order:
//
//	datagram -> corrupt -> dup -> loss -> burst -> delay+jitter -> reorder -> socket
//	                        |                          ^
//	                        +---- the copy goes on ----+
//
// A specification is a comma-separated list:
//
//	delay=40ms        constant one-way delay
//	jitter=5ms        plus a uniform share of [0, jitter]
//	loss=5%           each datagram on its own
//	burst=1500ms/100ms  mean sojourn in the good and the bad state, exponential; bad drops all
//	dup=1%            one more copy, which is lost and delayed on its own
//	reorder=1%        25 ms on top of the delay
//	corrupt=1%        one random bit is flipped
//	trace=FILE        rows of t_ms,one_way_delay_ms,lost replace delay and loss; it repeats
//	seed=1            of all draws; 1 when not given
package impair

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrSpec reports an impairment specification or trace file that cannot be used.
var ErrSpec = errors.New("bad impairment")

// reorderDelay is what a reordered datagram waits on top of its delay.
const reorderDelay = 25 * time.Millisecond

// Spec says what to do to outgoing datagrams. The zero value does nothing.
// Probabilities are in [0, 1].
type Spec struct {
	Delay, Jitter         time.Duration
	Loss                  float64
	BurstGood, BurstBad   time.Duration
	Dup, Reorder, Corrupt float64
	Trace                 *Trace
	Seed                  uint64
}

// Zero reports whether the specification leaves every datagram as it is.
func (s Spec) Zero() bool {
	s.Seed = 0
	return s == Spec{}
}

// Parse reads a specification as the --impair flag takes it. A trace file it
// names is read at once, so that a bad file is found before a match begins.
func Parse(text string) (Spec, error) {
	s := Spec{Seed: 1}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, val, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || val == "" {
			return Spec{}, fmt.Errorf("%w: %q is not key=value", ErrSpec, part)
		}
		if seen[key] {
			return Spec{}, fmt.Errorf("%w: %s is given twice", ErrSpec, key)
		}
		seen[key] = true
		if err := s.set(key, val); err != nil {
			return Spec{}, err
		}
	}
	if s.Trace != nil && (seen["delay"] || seen["loss"]) {
		return Spec{}, fmt.Errorf("%w: trace replaces delay and loss, so they cannot be given with it", ErrSpec)
	}
	return s, nil
}

func (s *Spec) set(key, val string) (err error) {
	switch key {
	case "delay":
		s.Delay, err = duration(key, val)
	case "jitter":
		s.Jitter, err = duration(key, val)
	case "loss":
		s.Loss, err = share(key, val)
	case "dup":
		s.Dup, err = share(key, val)
	case "reorder":
		s.Reorder, err = share(key, val)
	case "corrupt":
		s.Corrupt, err = share(key, val)
	case "burst":
		good, bad, ok := strings.Cut(val, "/")
		if !ok {
			return fmt.Errorf("%w: burst wants good/bad, for example 1500ms/100ms, not %q", ErrSpec, val)
		}
		if s.BurstGood, err = duration(key, good); err != nil {
			return err
		}
		if s.BurstBad, err = duration(key, bad); err != nil {
			return err
		}
		if s.BurstGood == 0 || s.BurstBad == 0 {
			return fmt.Errorf("%w: both times of burst must be above zero", ErrSpec)
		}
	case "trace":
		s.Trace, err = ReadTrace(val)
	case "seed":
		s.Seed, err = strconv.ParseUint(val, 10, 64)
		if err != nil {
			err = fmt.Errorf("%w: seed wants a whole number, not %q", ErrSpec, val)
		}
	default:
		err = fmt.Errorf("%w: unknown key %q (delay, jitter, loss, burst, dup, reorder, corrupt, trace, seed)", ErrSpec, key)
	}
	return err
}

func duration(key, val string) (time.Duration, error) {
	d, err := time.ParseDuration(val)
	if err != nil || d < 0 || d > time.Minute {
		return 0, fmt.Errorf("%w: %s wants a time from 0 to 1m, for example 40ms, not %q", ErrSpec, key, val)
	}
	return d, nil
}

func share(key, val string) (float64, error) {
	num, ok := strings.CutSuffix(val, "%")
	p, err := strconv.ParseFloat(num, 64)
	if !ok || err != nil || !(p >= 0 && p <= 100) {
		return 0, fmt.Errorf("%w: %s wants a share from 0%% to 100%%, not %q", ErrSpec, key, val)
	}
	return p / 100, nil
}
