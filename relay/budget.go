package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// ErrBudget is wrapped when the file that remembers the month's egress exists and is not one. It is never overwritten.
var ErrBudget = errors.New("relay: damaged egress file")

const (
	budgetFile   = "relay.egress"
	budgetHeader = "backstep-relay-egress 1"
	// budgetNear is the part of the budget, in percent, at which new lobbies are refused, so that matches under way can end.
	budgetNear = 95
	// budgetSave is how often the month's egress is written down; a crash forgets at most so much.
	budgetSave = time.Minute

	overheadV4 = 20 + 8 // bytes of IP and UDP headers, which providers charge for too
	overheadV6 = 40 + 8
)

type budgetState uint8

const (
	budgetFree  budgetState = iota
	budgetClose             // nearly used up: no new lobbies
	budgetSpent             // used up: STUN only until the month ends
)

// budget counts what the relay sends in a calendar month (UTC) and says when to stop. The workers do not count for it: it reads
// their statistics four times a second.
//
//	free --95 %--> close (no new lobbies) --100 %--> spent (STUN only)
//	  ^                                                 |
//	  +------------- first of the next month -----------+
type budget struct {
	limit uint64 // bytes, 0: none
	file  string // empty: remembered in memory only

	mu    sync.Mutex
	month string // 2026-05
	used  uint64
	seen  uint64 // of the statistics' total
	saved time.Time
	state budgetState
}

func monthOf(t time.Time) string { return t.UTC().Format("2006-01") }

// loadBudget reads what the month has used so far.
func loadBudget(limit uint64, dir string, now time.Time) (*budget, error) {
	b := &budget{limit: limit, month: monthOf(now), saved: now}
	if limit == 0 || dir == "" {
		return b, nil
	}
	b.file = filepath.Join(dir, budgetFile)
	text, err := os.ReadFile(b.file)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBudget, err)
	}
	var month string
	var used uint64
	if _, err := fmt.Sscanf(string(text), budgetHeader+"\n%s %d\n", &month, &used); err != nil || string(text) != budgetText(month, used) {
		return nil, fmt.Errorf("%w: %s; delete it to count this month from zero", ErrBudget, b.file)
	}
	if month == b.month {
		b.used = used
	}
	b.state = b.judge()
	return b, nil
}

func budgetText(month string, used uint64) string {
	return fmt.Sprintf("%s\n%s %d\n", budgetHeader, month, used)
}

func (b *budget) judge() budgetState {
	switch {
	case b.limit == 0:
		return budgetFree
	case b.used >= b.limit:
		return budgetSpent
	case b.used >= b.limit/100*budgetNear:
		return budgetClose
	}
	return budgetFree
}

// count takes the total of bytes sent since the start and returns the state and whether it changed.
func (b *budget) count(total uint64, now time.Time) (s budgetState, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := monthOf(now); m != b.month {
		b.month, b.used = m, 0
	}
	b.used += total - b.seen
	b.seen = total
	old := b.state
	b.state = b.judge()
	return b.state, b.state != old
}

// spent returns the bytes of this month.
func (b *budget) spent() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// save writes the month's egress if it is due. A relay without a file remembers nothing.
func (b *budget) save(now time.Time, due bool) error {
	b.mu.Lock()
	if b.file == "" || !due && now.Sub(b.saved) < budgetSave {
		b.mu.Unlock()
		return nil
	}
	b.saved = now
	text := budgetText(b.month, b.used)
	b.mu.Unlock()
	return replaceFile(b.file, text)
}

// replaceFile writes a file so that its name shows the old text or the new one, never a part.
func replaceFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(writeAll(f, text), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// watchBudget counts, and does what the state asks for.
func (s *Server) watchBudget() {
	now := s.set.Now()
	state, changed := s.budget.count(s.egress(), now)
	if changed {
		s.obeyBudget(state)
	}
	s.saveBudget(now, changed)
}

func (s *Server) saveBudget(now time.Time, due bool) {
	if err := s.budget.save(now, due); err != nil {
		s.log.at(zerolog.WarnLevel, evBudget).Err(err).Msg("the month's egress cannot be written down; a restart would forget it")
	}
}

func (s *Server) obeyBudget(state budgetState) {
	why := keep
	if state == budgetSpent {
		why = dropBudget
	}
	if !s.set.StunOnly {
		s.fwd.refuse.Store(uint32(why))
	}
	s.hub.broke.Store(state != budgetFree)
	e := s.log.at(zerolog.WarnLevel, evBudget).Uint64("used", s.budget.spent()).Uint64("limit", s.set.EgressBudget)
	switch state {
	case budgetSpent:
		e.Msg("the month's egress budget is used up: STUN only until the month ends")
	case budgetClose:
		e.Msg("the month's egress budget is nearly used up: no new lobbies, running matches go on")
	default:
		e.Msg("a new month: the egress budget is free again")
	}
}

// egress returns all bytes sent since the start, with IP and UDP headers. Which family a datagram went by is not counted, so it
// is taken to be the dearer one where the relay serves both.
func (s *Server) egress() uint64 {
	t := s.totals()
	overhead := uint64(overheadV4)
	for _, e := range s.endpoints {
		if e.udp.at.Addr().Is6() {
			overhead = overheadV6
		}
	}
	sum := uint64(0)
	for k := range kinds {
		sum += t.sentBytes[k] + overhead*t.sent[k]
	}
	// A tunnel's frame rides in TCP with acknowledgements and a WebSocket header.
	for k := range kinds {
		sum += s.tunnels.sentBytes[k].Load() + (overheadV6+20)*s.tunnels.sent[k].Load()
	}
	return sum
}
