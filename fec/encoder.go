package fec

// Encoder makes the parity of a packet stream. The zero value makes one parity
// packet (XOR) for each group of four. Its memory is fixed, about 10 KB; nothing
// allocates.
//
// On each tick: stamp each packet with [Encoder.Next], encode it, hand its bytes
// to [Encoder.Add]; then [Encoder.Tick]; then send what [Encoder.Parity] gives
// until it has no more.
type Encoder struct {
	params  Params
	groups  [2]outgoing
	open    int // groups[open] is filled, the other one is closed
	nextID  uint16
	staging [sumLen]byte
	stats   EncoderStats
}

// Params are the parameters of a group. The zero value means four packets and
// one parity packet.
type Params struct {
	Size   int // packets in a group, 1 to MaxGroup; 0 is DefaultGroup
	Parity int // parity packets for it, 1 to MaxParity; 1 is XOR; 0 is 1
}

func (p Params) clamped() Params {
	if p.Size == 0 {
		p.Size = DefaultGroup
	}
	p.Size = min(max(p.Size, 1), MaxGroup)
	p.Parity = min(max(p.Parity, 1), MaxParity)
	return p
}

type outgoing struct {
	id     uint16
	params Params // fixed when the group's first packet is added
	count  int    // packets added
	ticks  int
	taken  int // parity packets handed out
	sums   sums
}

func (g *outgoing) left() int { return g.params.Parity - g.taken }

// EncoderStats are the counts of an [Encoder] since its start.
type EncoderStats struct {
	Packets uint64 // data packets added
	Groups  uint64 // groups closed
	Partial uint64 // of these, closed by time or Flush with fewer packets than planned
	Parity  uint64 // parity packets handed out
	Dropped uint64 // parity packets not taken before the next group closed
}

// Set changes the parameters from the next group on. Values out of range are
// clamped.
func (e *Encoder) Set(p Params) { e.params = p.clamped() }

// Next is the place of the next packet to be added, to be written into its
// header before it is encoded. It stays the same until Add.
func (e *Encoder) Next() Group {
	g := &e.groups[e.open]
	if g.count == 0 {
		return Group{ID: e.nextID, Size: uint8(e.params.clamped().Size)}
	}
	return Group{ID: g.id, Index: uint8(g.count), Size: uint8(g.params.Size)}
}

// Add adds the encoded packet that carries the place Next gave; pkt is not kept.
// A packet that Add refuses must not be sent with that place: check its length
// against MaxPacket first.
func (e *Encoder) Add(pkt []byte) error {
	if len(pkt) == 0 {
		return ErrPacketEmpty
	}
	if len(pkt) > MaxPacket {
		return ErrPacketTooLong
	}
	g := &e.groups[e.open]
	if g.count == 0 {
		g.sums.reset(g.params.Parity)
		g.id, g.params, g.ticks, g.taken = e.nextID, e.params.clamped(), 0, 0
		e.nextID++
	}
	g.sums.add(g.count, g.params.Parity, pkt, &e.staging)
	g.count++
	e.stats.Packets++
	if g.count == g.params.Size {
		e.close()
	}
	return nil
}

// Tick ends a tick. A group that has been open for as many ticks as it has
// places closes with the packets it has, so that parity is never older than
// that and a slow stream is protected too.
func (e *Encoder) Tick() {
	g := &e.groups[e.open]
	if g.count == 0 {
		return
	}
	g.ticks++
	if g.ticks >= g.params.Size {
		e.close()
	}
}

// Flush closes the open group now, if it has any packet: for the end of a stream.
func (e *Encoder) Flush() {
	if e.groups[e.open].count > 0 {
		e.close()
	}
}

func (e *Encoder) close() {
	g := &e.groups[e.open]
	e.stats.Groups++
	if g.count < g.params.Size {
		e.stats.Partial++
	}
	e.open ^= 1
	old := &e.groups[e.open]
	if old.count > 0 {
		e.stats.Dropped += uint64(old.left())
		old.count = 0
	}
}

// Parity appends the payload of the next parity packet of the group that closed
// last and returns it with its place. ok is false, and b unchanged, when there is
// none. Parity not taken before the next group closes is dropped.
func (e *Encoder) Parity(b []byte) (parity []byte, place Group, ok bool) {
	g := &e.groups[e.open^1]
	if g.count == 0 {
		return b, Group{}, false
	}
	place = Group{ID: g.id, Index: uint8(g.count + g.taken), Size: uint8(g.count)}
	b = append(b, uint8(g.params.Parity))
	b = append(b, g.sums.row[g.taken][:g.sums.longest]...)
	e.stats.Parity++
	g.taken++
	if g.left() == 0 {
		g.count = 0
	}
	return b, place, true
}

// Pending is the number of parity packets that Parity would give now.
func (e *Encoder) Pending() int {
	if g := &e.groups[e.open^1]; g.count > 0 {
		return g.left()
	}
	return 0
}

// Stats returns the counts so far.
func (e *Encoder) Stats() EncoderStats { return e.stats }
