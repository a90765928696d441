package accord

func (p *Party) head() head { return head{offer: p.offer, limit: p.limit} }

// AppendMessage appends the message to another side that is due at now (µs), and nothing if none is. A guest talks to
// player 0 only.
func (p *Party) AppendMessage(b []byte, to int, now int64) []byte {
	if to == p.player || to < 0 || to >= p.players || p.player != 0 && to != 0 {
		return b
	}
	q := &p.peers[to]
	h := p.head()
	if p.player != 0 {
		p.guest.ask, p.guest.want, p.guest.newest = p.asks, p.wish, p.newest
	}
	if p.differs(q, h) {
		q.head, q.host, q.guest = h, p.host, p.guest
		q.revision++
		q.fresh = true
	}
	open := q.revision != q.acked
	if !q.answer && !q.fresh && !(open && now-q.sentAt >= repeat) {
		return b
	}
	q.answer, q.fresh, q.sentAt = false, false, now
	h.revision, h.heard, h.want = q.revision, q.theirs, open
	if p.player == 0 {
		return appendHost(b, h, q.host)
	}
	return appendGuest(b, h, q.guest)
}

// differs reports whether there is something to say that was not said. The newest frame alone is no news.
func (p *Party) differs(q *peer, h head) bool {
	if h != q.head {
		return true
	}
	if p.player == 0 {
		return p.host != q.host
	}
	g := p.guest
	g.newest = q.guest.newest
	return g != q.guest
}

// Receive takes a message of another side that arrived at this side while newest was the newest frame stepped. It
// returns ErrMessage, and changes nothing, for what cannot have been sent in this match. Repeated and older messages
// change nothing.
func (p *Party) Receive(from int, msg []byte, newest int32) error {
	if from == p.player || from < 0 || from >= p.players || p.player != 0 && from != 0 {
		return ErrMessage
	}
	p.newest = newest
	q := &p.peers[from]
	if p.player == 0 {
		h, s, err := parseGuest(msg)
		if err != nil || !q.believes(h) {
			return ErrMessage
		}
		if q.take(h) {
			q.said = s
		}
		return nil
	}
	h, s, err := parseHost(msg)
	if err != nil || !q.believes(h) || q.isNews(h) && !p.follows(s) {
		return ErrMessage
	}
	if q.take(h) {
		p.follow(s)
	}
	return nil
}

// believes reports whether h speaks of revisions that were sent.
func (q *peer) believes(h head) bool { return int16(q.revision-h.heard) >= 0 }

func (q *peer) isNews(h head) bool { return int16(h.revision-q.theirs) > 0 }

// take notes the head of a message and reports whether the rest is news.
func (q *peer) take(h head) bool {
	if int16(h.heard-q.acked) > 0 {
		q.acked = h.heard
	}
	q.answer = q.answer || h.want
	if !q.isNews(h) {
		return false
	}
	q.theirs, q.offer, q.limit = h.revision, h.offer, h.limit
	return true
}

// follows reports whether a host can go from what it said last to s: no commit without this side's readiness for that
// very frame, and no other frame afterwards.
func (p *Party) follows(s hostState) bool {
	old := &p.host
	open := old.stage == Poll || old.stage == Propose
	switch {
	case s.serial != old.serial:
		return int16(s.serial-old.serial) > 0 && !open && !p.pending && s.stage != Commit
	case !open:
		return s == *old || s.stage == Idle
	case s.stage == Commit:
		return old.stage == Propose && p.guest.vote == ready && s.attempt == old.attempt && s.frame == old.frame && s.terms == old.terms
	case s.stage == Propose && s.attempt == old.attempt:
		return s == *old
	}
	return s.stage >= old.stage
}

// follow is the guest's part: it answers what the host says.
func (p *Party) follow(s hostState) {
	switch {
	case s == p.host:
		return // another part of the message is news
	case s.stage == Idle:
		p.host.stage = Idle
		return
	}
	if s.serial != p.host.serial {
		p.guest.serial, p.guest.vote, p.guest.attempt = s.serial, undecided, 0
	}
	another := s.attempt != p.host.attempt
	p.host = s
	switch s.stage {
	case Poll:
		if int(s.asker) == p.player || s.terms.Mode == p.terms.Mode {
			p.guest.vote = yes
		}
	case Propose:
		if another || p.guest.vote != ready && p.guest.vote != late {
			p.guest.attempt, p.guest.vote = s.attempt, ready
			if p.newest >= s.frame {
				p.guest.vote = late
			}
		}
	case Commit:
		p.pending = true
	case Abort:
		p.guest.vote = done
		p.close(Event{Terms: s.terms, Reason: s.reason})
	}
}
