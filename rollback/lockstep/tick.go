package lockstep

// Tick runs the frames that are due at now (µs, of any fixed origin) and for which all commands are there, and sends this
// side's packets. It may be called as often as one likes; about every 40 ms packets go out.
func (s *Session) Tick(now int64) {
	if !s.began {
		s.began, s.ticked = true, now
	}
	s.clock.Add(now - s.ticked)
	s.ticked = now
	if s.err != nil {
		return
	}
	send := s.clock.Due() > 0 && now-s.saidAt >= FrameMicros/2
	switch {
	case s.incoming.active:
		s.clock.wait()
		s.fetch(now)
	case s.catching:
		for range catchUp {
			if !s.ready() {
				break
			}
			s.step()
		}
		s.clock.wait()
		s.caughtUp()
	default:
		s.run(now)
	}
	if send {
		s.saidAt = now
		s.say()
		if s.incoming.active || s.catching {
			s.clock.Take()
		}
	}
}

// run is Tick in the normal course of a match.
func (s *Session) run(now int64) {
	for s.clock.Due() > 0 {
		s.seal()
		if !s.ready() {
			if !s.waiting {
				s.waiting, s.waitFrom = true, now
				s.stats.Waits++
			}
			wait := now - s.waitFrom
			s.stats.LongestWait = max(s.stats.LongestWait, wait)
			s.flagged = s.flagged || wait > MaxInputWaitMicros
			s.clock.wait()
			return
		}
		s.waiting = false
		s.clock.Take()
		s.step()
		if s.err != nil {
			return
		}
	}
}

// seal closes this side's bundles up to the frame for which commands are scheduled now.
func (s *Session) seal() {
	if !s.player() {
		return
	}
	p := s.cfg.Local
	for s.known[p] < s.cur+1+int32(s.cfg.Delay) {
		n, size := 0, 0
		for n < len(s.outbox) && n < MaxCommands {
			if size += 1 + len(s.outbox[n].Name) + 3*5; size > bundleBytes {
				break
			}
			n++
		}
		f := s.known[p] + 1
		b := append(s.bundles[p][f%ring][:0], s.outbox[:n]...)
		s.outbox = s.outbox[:copy(s.outbox, s.outbox[n:])]
		Sort(b)
		s.bundles[p][f%ring], s.framed[p][f%ring], s.known[p] = b, f, f
	}
}

// ready reports whether every player's commands of the next frame are there.
func (s *Session) ready() bool {
	for p := range s.cfg.Match.Players {
		if s.known[p] <= s.cur {
			return false
		}
	}
	return true
}

// step runs the next frame.
func (s *Session) step() {
	f := s.cur + 1
	s.commands = s.commands[:0]
	for p := range s.cfg.Match.Players {
		if s.framed[p][f%ring] == f {
			s.commands = append(s.commands, s.bundles[p][f%ring]...)
		}
	}
	s.draws.frame = f
	s.game.Step(f, s.commands, &s.draws)
	if s.err = s.draws.Err(); s.err != nil {
		return
	}
	s.cur = f
	s.digest = s.cfg.Match.Digest(s.digest, f, s.game.Hash(), s.commands)
	s.digests[f%ring] = mark{f, s.digest}
	if f%HashIntervalFrames == 0 {
		s.checks[f/HashIntervalFrames%checkpoints] = s.digests[f%ring]
	}
	if f%snapshotEvery == snapshotEvery-1 {
		s.snapshot()
	}
	if s.record != nil {
		s.record.add(f, s.commands, s.digest)
	}
	for p := range s.peers {
		for _, m := range s.peers[p].pending {
			if m.frame == f {
				s.compare(p, m)
			}
		}
	}
}

func (s *Session) snapshot() {
	s.snaps.add(s.cur, s.digest, s.draws.state, s.draws.next, s.game.AppendState)
}

// caughtUp ends catching up once this side has run what the host had, and knows all it ever said itself.
func (s *Session) caughtUp() {
	if s.cur < s.peers[0].done {
		if s.peers[0].done-s.cur > ring-2*snapshotEvery {
			s.incoming.begin(newest) // what is missing is kept nowhere any more
		}
		return
	}
	if s.player() {
		for p := range s.cfg.Match.Players {
			if p == s.cfg.Local {
				continue
			}
			if q := &s.peers[p]; !q.heard || q.known[s.cfg.Local] > s.known[s.cfg.Local] {
				return
			}
		}
	}
	s.catching, s.waiting = false, false
}

// say sends a turn packet to everybody.
func (s *Session) say() {
	for to := range s.peers {
		if to == s.cfg.Local || to >= s.cfg.Match.Players && !s.peers[to].heard {
			continue
		}
		s.send(to, s.appendTurn(s.buf[:0], to))
	}
}

// tells reports whether this side tells to what p said. Everybody tells players its own bundles; the host passes on what
// others said to one that is catching up, or whom they do not reach. A player that began anew may have lost its own
// bundles, so all players give it those. Observers hear of the host alone: so none of them can know a bundle that no
// player knows when its author comes back without it.
func (s *Session) tells(p, to int) bool {
	q, host := &s.peers[to], s.cfg.Local == 0
	switch {
	case to >= s.cfg.Match.Players:
		return host
	case !s.player():
		return false
	case p == s.cfg.Local:
		return true
	}
	if s.known[p] > q.known[p] {
		q.stuck[p]++
	} else {
		q.stuck[p] = 0
	}
	return q.catching && (host || p == to) || host && p != to && q.stuck[p] > stuckFor
}

func (s *Session) send(to int, b []byte) {
	s.stats.Sent++
	s.stats.SentBytes += int64(len(b))
	s.pipe.Send(to, b)
}

func (s *Session) appendTurn(b []byte, to int) []byte {
	n, q := s.cfg.Match.Players, &s.peers[to]
	t := turn{player: uint8(s.cfg.Local), life: s.cfg.Life, known: s.known, done: s.cur, digest: s.digest}
	if s.cur < 0 {
		t.digest = 0
	}
	if s.catching {
		t.flags = catching
	}
	if s.incoming.active {
		t.done, t.digest = -1, 0 // nothing this side has run counts
	}
	b = appendTurn(b, &t, n)
	at := len(b)
	b = append(b, 0)
	for p := range n {
		if !s.tells(p, to) {
			continue
		}
		first := q.known[p] + 1
		for first <= s.known[p] && s.framed[p][first%ring] != first {
			first++ // never said: it was empty, or is too old
		}
		start := len(b)
		b = append(b, byte(p), byte(first), byte(first>>8), byte(first>>16), byte(first>>24), 0)
		count := 0
		for f := first; f <= s.known[p] && count < maxBundles; f++ {
			end := len(b)
			if b = appendBundle(b, s.bundles[p][f%ring]); len(b) > MaxPacket {
				b = b[:end]
				break
			}
			count++
		}
		if count == 0 {
			b = b[:start]
			continue
		}
		b[start+5] = byte(count)
		b[at]++
	}
	return b
}
