package link

import (
	"sync"
	"sync/atomic"

	"backstep/natpunch"
	"backstep/rollback/wire"
)

const (
	// sideBit in the link byte marks a side message instead of a wire packet.
	sideBit = 1 << 5
	// MaxSide is the longest side message in bytes.
	MaxSide = wire.MaxPacket - sideHeader
	// sideHeader is the number of the message and that of the last one taken.
	sideHeader = 2
	// sideQueue messages wait at most; more are refused.
	sideQueue = 8
	// sideResend is when an unanswered message goes out again, in µs.
	sideResend = 200_000
)

// side carries a few messages beside the match, reliably and in order, for what
// keeps the paths of this very link: one message is under way at a time and is
// repeated until the opponent has it.
//
//	 0               1               2
//	+---------------+---------------+---------------+----------
//	|0 0 1 0 0 0 m m|    number     |  last taken   |  message
//	+---------------+---------------+---------------+----------
//	number: 1…255, then 1 again; 0 and no message: only says what was taken
//
// Messages leave with the packets of Send, so that one goroutine owns the
// sending; without packets they wait.
type side struct {
	due atomic.Bool // Send has to look
	on  atomic.Pointer[func(msg []byte) (taken bool)]

	mu     sync.Mutex
	out    [][]byte
	number byte  // of out[0]
	sentAt int64 // 0: not yet
	taken  byte  // number of the opponent's last message that was taken
	answer bool
	buf    [1 + wire.MaxPacket]byte
}

func nextNumber(n byte) byte {
	if n == 255 {
		return 1
	}
	return n + 1
}

// Post queues a side message of at most MaxSide bytes; it is copied. Any
// goroutine may call it. It refuses what is empty, too long or one too many.
func (l *Link) Post(msg []byte) bool {
	s := &l.side
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(msg) == 0 || len(msg) > MaxSide || len(s.out) == sideQueue {
		return false
	}
	if s.number == 0 {
		s.number = 1
	}
	s.out = append(s.out, append([]byte(nil), msg...))
	s.due.Store(true)
	return true
}

// OnSide has f called for each side message of the opponent, on the link's
// reader, which it may not block. A message that f does not take comes again.
// Without f they wait at the opponent.
func (l *Link) OnSide(f func(msg []byte) (taken bool)) { l.side.on.Store(&f) }

// sendSide sends what is due on the routes of the packet before it. It belongs to the goroutine of Send.
func (l *Link) sendSide(now int64, plan natpunch.Mask) {
	s := &l.side
	s.mu.Lock()
	defer s.mu.Unlock()
	var msg []byte
	number := byte(0)
	if len(s.out) > 0 && (s.sentAt == 0 || now-s.sentAt >= sideResend) {
		msg, number, s.sentAt = s.out[0], s.number, max(now, 1)
	} else if !s.answer {
		return
	}
	s.answer = false
	s.due.Store(len(s.out) > 0)
	for path := natpunch.Mask(1); path <= natpunch.Direct; path <<= 1 {
		if plan&path == 0 {
			continue
		}
		b := append(append(s.buf[:0], sideBit|byte(path), number, s.taken), msg...)
		l.under.Select(path)
		if _, err := l.conn.Write(b); err != nil {
			l.refused++
			continue
		}
		l.sent++
		l.sentBytes += uint64(len(b) + recordOverhead)
	}
}

// receive takes a side message without its link byte; false if it is none.
func (s *side) receive(b []byte) bool {
	if len(b) < sideHeader || b[0] == 0 && len(b) > sideHeader || b[0] != 0 && len(b) == sideHeader {
		return false
	}
	s.mu.Lock()
	if len(s.out) > 0 && b[1] == s.number && s.sentAt != 0 {
		s.out = s.out[1:]
		s.number, s.sentAt = nextNumber(s.number), 0
	}
	fresh := b[0] != 0 && b[0] == nextNumber(s.taken)
	s.mu.Unlock()
	if b[0] == 0 {
		return true
	}
	if fresh {
		f := s.on.Load()
		if f == nil || !(*f)(b[sideHeader:]) {
			return true // it comes again
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh {
		s.taken = b[0]
	}
	s.answer = true
	s.due.Store(true)
	return true
}
