package accord

// lead is the host's part of Step: it takes the change that is under way to its next stage.
func (p *Party) lead(now int64) {
	switch p.host.stage {
	case Idle:
		p.next(now)
	case Poll:
		p.poll(now)
	case Propose:
		p.gather()
	case Commit:
		if !p.pending && p.all(done) {
			p.host.stage = Idle
		}
	case Abort:
		if p.all(done) {
			p.host.stage = Idle
		}
	}
}

// next takes up a wish: this side's own, or that of the first guest after the one served last.
func (p *Party) next(now int64) {
	if p.wanted {
		p.begin(now, 0, p.asks, p.wish)
		return
	}
	for i := range p.players - 1 {
		g := 1 + (int(p.host.asker)+i)%(p.players-1)
		if q := &p.peers[g]; q.said.ask != q.handled {
			q.handled = q.said.ask
			p.begin(now, g, q.said.ask, q.said.want)
			return
		}
	}
}

func (p *Party) begin(now int64, asker int, ask uint8, t Terms) {
	p.host = hostState{serial: p.host.serial + 1, stage: Poll, asker: uint8(asker), ask: ask, terms: t}
	p.since, p.mine = now, undecided
	if asker == 0 {
		p.mine = yes
	}
	if p.within(t) == p.terms {
		p.abort(NoChange)
	}
}

// within is t with a window that all sides afford. The one in force counts as afforded.
func (p *Party) within(t Terms) Terms {
	t.Window = min(t.Window, max(uint8(p.Limit()), p.terms.Window))
	return t
}

func (p *Party) poll(now int64) {
	if p.host.terms.Mode == p.terms.Mode {
		p.mine = yes
	}
	refused, open := p.mine == no, p.mine == undecided
	for g := 1; g < p.players; g++ {
		switch v := p.said(g); v {
		case no:
			refused = true
		case undecided:
			open = true
		}
	}
	switch {
	case refused:
		p.abort(Refused)
	case !open:
		if p.host.terms = p.within(p.host.terms); p.host.terms == p.terms {
			p.abort(NoChange)
			return
		}
		p.propose()
	case now-p.since > pollLimit:
		p.abort(NoAnswer)
	}
}

// said is a guest's vote on this change.
func (p *Party) said(guest int) vote {
	s := &p.peers[guest].said
	if s.serial != p.host.serial {
		return undecided
	}
	return s.vote
}

// propose names a frame that all sides can be expected not to have reached when they hear of it.
func (p *Party) propose() {
	if p.host.attempt == mostFrames {
		p.abort(NoFrame)
		return
	}
	newest := p.newest
	for g := 1; g < p.players; g++ {
		newest = max(newest, min(p.peers[g].said.newest, p.newest+4*MaxWindow))
	}
	p.host.stage, p.host.frame = Propose, newest+int32((2*p.trip+lead)<<p.host.attempt)
	p.host.attempt++
}

// gather waits until all are ready for the frame, and names another if that comes too late.
func (p *Party) gather() {
	all := true
	for g := 1; g < p.players; g++ {
		v := p.said(g)
		if p.peers[g].said.attempt != p.host.attempt {
			v = undecided
		}
		if v == late {
			p.propose()
			return
		}
		all = all && v == ready
	}
	switch {
	case all:
		p.host.stage, p.pending = Commit, true
	case p.newest+1 >= p.host.frame:
		p.propose()
	}
}

func (p *Party) abort(r Reason) {
	p.host.stage, p.host.reason = Abort, r
	p.close(Event{Terms: p.host.terms, Reason: r})
}

func (p *Party) all(v vote) bool {
	for g := 1; g < p.players; g++ {
		if p.said(g) != v {
			return false
		}
	}
	return true
}
