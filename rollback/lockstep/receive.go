package lockstep

import "encoding/binary"

const (
	fetchInterval = 60_000 // µs between two requests
	serveInterval = 20_000 // µs between two answers to one side
	chunksAtOnce  = 8
)

// Receive hands in a packet. An error says why it was dropped; ErrConflict ends the match, see Err.
func (s *Session) Receive(pkt []byte, now int64) error {
	s.stats.Received++
	err := ErrPacket
	if len(pkt) > 0 {
		switch pkt[0] {
		case turnTag:
			err = s.heardTurn(pkt)
		case fetchTag:
			err = s.serve(pkt, now)
		case chunkTag:
			err = s.heardChunk(pkt)
		}
	}
	if err == ErrPacket {
		s.stats.Malformed++
	}
	return err
}

func (s *Session) heardTurn(pkt []byte) error {
	var t turn
	n := s.cfg.Match.Players
	sections, err := parseTurn(pkt, &t, n)
	if err != nil || int(t.player) == s.cfg.Local || int(t.player) >= maxPeers {
		return ErrPacket
	}
	if err := s.sections(sections, &t, false); err != nil {
		return err
	}
	q := &s.peers[t.player]
	switch newer := int8(t.life - q.life); {
	case q.heard && newer < 0:
		return nil // of a life that is over
	case !q.heard || newer > 0:
		q.heard, q.life, q.known, q.done = true, t.life, t.known, t.done
		q.catching = t.flags&catching != 0
	default:
		for p := range n {
			if t.known[p] > q.known[p] {
				q.known[p], q.stuck[p] = t.known[p], 0
			}
		}
		q.done = max(q.done, t.done)
		q.catching = t.flags&catching != 0
	}
	if err := s.sections(sections, &t, true); err != nil {
		s.err = err
		return err
	}
	if t.done >= 0 {
		s.compareOrKeep(int(t.player), mark{t.done, t.digest})
	}
	return nil
}

// sections reads the bundles of a turn packet, and takes them if take is set. The first reading finds what is malformed.
func (s *Session) sections(b []byte, t *turn, take bool) error {
	count, last := int(b[0]), -1
	b = b[1:]
	for range count {
		if len(b) < 6 {
			return ErrPacket
		}
		p, first, bundles := int(b[0]), int64(binary.LittleEndian.Uint32(b[1:])), int(b[5])
		b = b[6:]
		if p <= last || p >= s.cfg.Match.Players || first > maxFrame || bundles < 1 || bundles > maxBundles ||
			p != int(t.player) && t.player != 0 && p != s.cfg.Local {
			return ErrPacket
		}
		last = p
		for i := range int64(bundles) {
			var err error
			if s.scratch, b, err = parseBundle(b, uint8(p), s.scratch[:0], &s.names); err != nil {
				return err
			}
			if take {
				if err := s.take(p, int32(first+i)); err != nil {
					return err
				}
			}
		}
	}
	if len(b) != 0 {
		return ErrPacket
	}
	return nil
}

// take takes the bundle in the scratch for a frame. What leaves a gap, or is too far ahead to be kept, comes again.
func (s *Session) take(p int, f int32) error {
	k := f % ring
	if f <= s.known[p] {
		if s.framed[p][k] == f && !equal(s.bundles[p][k], s.scratch) {
			return ErrConflict
		}
		return nil
	}
	if f != s.known[p]+1 || f > s.cur+ring/2 || s.incoming.active || p == s.cfg.Local && !s.catching {
		return nil
	}
	s.bundles[p][k] = append(s.bundles[p][k][:0], s.scratch...)
	s.framed[p][k], s.known[p] = f, f
	return nil
}

func equal(a, b []Command) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *Session) compareOrKeep(p int, m mark) {
	if m.frame > s.cur {
		q := &s.peers[p]
		q.pending[q.at] = m
		q.at = (q.at + 1) % len(q.pending)
		return
	}
	s.compare(p, m)
}

// compare compares another side's digest of a frame that was run here.
func (s *Session) compare(p int, m mark) {
	mine, ok := s.DigestOf(m.frame)
	if !ok || mine == m.digest || s.incoming.active || s.catching && p != 0 {
		return
	}
	switch {
	case s.cfg.Local == 0:
		s.stats.DifferencesOfOther++
		s.desynced, s.differs = true, mark{m.frame, mine}
	case p == 0:
		s.recover(m.frame)
	}
}

// recover drops everything from RecoveryRollbackFrames before a difference on, and fetches what the host has instead.
func (s *Session) recover(frame int32) {
	mine, _ := s.DigestOf(frame)
	s.desynced, s.differs = true, mark{frame, mine}
	s.stats.Desyncs++
	if s.recovered++; s.recovered > maxRecoveries {
		s.err = ErrDesync
		return
	}
	s.drop(frame - RecoveryRollbackFrames)
	s.catching = true
	s.incoming.begin(max(frame-RecoveryRollbackFrames-1, -1))
}

// drop forgets every digest, checkpoint and snapshot from frame on.
func (s *Session) drop(frame int32) {
	for i := range s.digests {
		if s.digests[i].frame >= frame {
			s.digests[i].frame = -1
		}
	}
	for i := range s.checks {
		if s.checks[i].frame >= frame {
			s.checks[i].frame = -1
		}
	}
	s.snaps.drop(frame)
	if s.record != nil {
		s.record.drop(frame)
	}
}

func (s *Session) fetch(now int64) {
	in := &s.incoming
	if now-in.sentAt < fetchInterval {
		return
	}
	in.sentAt = now
	wanted := in.wanted
	if len(in.got) > 0 {
		wanted = in.snap.Label
	}
	s.send(0, appendFetch(s.buf[:0], uint8(s.cfg.Local), wanted, in.missing()))
}

// serve answers a request for a snapshot with some chunks of it.
func (s *Session) serve(pkt []byte, now int64) error {
	player, wanted, offset, err := parseFetch(pkt)
	if err != nil || s.cfg.Local != 0 || player == 0 || player >= maxPeers || offset%chunkBytes != 0 {
		return ErrPacket
	}
	q := &s.peers[player]
	if q.servedAt != 0 && now-q.servedAt < serveInterval {
		return nil
	}
	q.servedAt = now
	x, err := s.snaps.at(wanted)
	if err != nil {
		// The frame is as old as the match's beginning or older than all that is kept. The oldest is the best there is.
		if _, err = s.snaps.at(maxFrame); err != nil {
			return nil
		}
		x = &s.snaps.list[0]
	}
	for i := range uint32(chunksAtOnce) {
		from := uint64(offset) + uint64(i)*chunkBytes
		if from >= uint64(len(x.State)) {
			break
		}
		s.stats.SnapshotsServed++
		s.send(int(player), appendChunk(s.buf[:0], &chunk{
			player: 0, label: x.Label, length: uint32(len(x.State)), digest: x.Digest, draws: x.Draws, count: x.Count,
			offset: uint32(from), bytes: x.State[from:min(from+chunkBytes, uint64(len(x.State)))],
		}))
	}
	return nil
}

func (s *Session) heardChunk(pkt []byte) error {
	c, err := parseChunk(pkt)
	if err != nil || c.player != 0 || s.cfg.Local == 0 {
		return ErrPacket
	}
	if s.incoming.take(&c) {
		s.load()
	}
	return nil
}

// load goes on from a snapshot of the host's.
func (s *Session) load() {
	x := &s.incoming.snap
	if s.err = s.game.LoadState(x.State); s.err != nil {
		return
	}
	s.incoming.active = false
	s.drop(x.Label)
	s.cur, s.digest = x.Label, x.Digest
	s.draws.restore(x.Draws, x.Count, x.Label)
	if x.Label >= 0 {
		s.digests[x.Label%ring] = mark{x.Label, x.Digest}
	}
	for p := range s.cfg.Match.Players {
		s.known[p] = max(s.known[p], x.Label)
	}
	s.snapshot()
	s.catching = true
	s.stats.Recoveries++
}
