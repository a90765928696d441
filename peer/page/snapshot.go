package page

import (
	"encoding/binary"

	"backstep/peer/present"
	"backstep/sim"
	"backstep/sim/data"
)

// Flags of a snapshot.
type Flags uint16

// The flags, see docs/page.md.
const (
	Rewound Flags = 1 << iota
	Overlay
	Stalled
	FrozenFlag
	Paused
	Offered
	Pair
	Quiet
)

// Kind says what a snapshot belongs to.
type Kind uint8

// The kinds.
const (
	KindMatch Kind = 1 + iota
	KindTraining
	KindTheatre
)

// NoSide is Snapshot.Side of somebody who only watches.
const NoSide = 255

// Box is a shape to draw: Kind 0 hurt, 1 hit, 2 shot.
type Box struct {
	Slot, Kind uint8
	data.Shape
}

// Bounds of the parts of a snapshot.
const (
	maxEvents = 64
	maxBoxes  = 48

	snapshotLayout  = 2
	headerLen       = 36
	matchLen        = 32
	fighterLen      = 96
	shotLen         = 24
	eventLen        = 16
	idLen           = 8
	boxLen          = 14
	trailLen        = 8
	offEvents       = 30
	offCancelled    = 31
	maxSnapshot     = headerLen + 2*matchLen + 2*sim.MaxFighters*fighterLen + 2*present.MaxShots*shotLen + maxEvents*(eventLen+idLen) + maxBoxes*boxLen + present.TrailFrames*trailLen
	maxSnapshotHead = headerLen + 2*matchLen + 2*sim.MaxFighters*fighterLen + 2*present.MaxShots*shotLen
	maxSnapshotTail = maxBoxes*boxLen + present.TrailFrames*trailLen
)

// Snapshot is one message of type SNAPSHOT. The owner keeps it and hands it to
// Server.Snapshot again and again; nothing in it is kept there.
type Snapshot struct {
	Flags             Flags
	Match             uint16
	Kind              Kind
	Side              uint8
	Confirmed         int32
	ClockMillis       uint32
	Seq               uint16
	Depth             uint8
	Resimulated       uint8
	Previous, Current *present.State
	Events            []sim.Event // happen now
	Cancelled         []uint64    // ids of events that turned out not to happen
	Boxes             []Box
	Trail             []present.Trail
}

// appendHead appends all up to the events, with the two counts of them 0.
func (s *Snapshot) appendHead(b []byte) []byte {
	le := binary.LittleEndian
	c := s.Current
	b = append(b, outSnapshot, snapshotLayout)
	b = le.AppendUint16(b, uint16(s.Flags))
	b = le.AppendUint16(b, s.Match)
	b = append(b, byte(s.Kind), s.Side)
	b = le.AppendUint32(b, uint32(c.Frame))
	b = le.AppendUint32(b, uint32(s.Confirmed))
	b = le.AppendUint32(b, s.ClockMillis)
	b = le.AppendUint16(b, s.Seq)
	b = append(b, s.Depth, s.Resimulated, c.Count, c.Active, c.Point[0], c.Point[1], s.Previous.ShotCount, c.ShotCount,
		0, 0, byte(min(len(s.Boxes), maxBoxes)), byte(min(len(s.Trail), present.TrailFrames)), 0, 0)
	b = appendMatch(b, s.Previous)
	b = appendMatch(b, c)
	for _, st := range [...]*present.State{s.Previous, c} {
		for i := range int(c.Count) {
			b = appendFighter(b, &st.Fighters[i])
		}
	}
	for _, st := range [...]*present.State{s.Previous, c} {
		for i := range int(st.ShotCount) {
			b = appendShot(b, &st.Shots[i])
		}
	}
	return b
}

// appendTail appends all behind the events.
func (s *Snapshot) appendTail(b []byte) []byte {
	for i := range min(len(s.Boxes), maxBoxes) {
		x := &s.Boxes[i]
		b = append(b, x.Slot, x.Kind, byte(formOf(&x.Shape)), 0)
		for _, q := range [...]sim.Fixed{x.X, x.Y, x.HW, x.HH, x.R} {
			b = binary.LittleEndian.AppendUint16(b, uint16(sixteenths(q)))
		}
	}
	trail := s.Trail[max(0, len(s.Trail)-present.TrailFrames):]
	for i := range trail {
		t := &trail[i]
		b = binary.LittleEndian.AppendUint16(b, t.Words[0])
		b = binary.LittleEndian.AppendUint16(b, t.Words[1])
		b = append(b, byte(t.Codes[0]), byte(t.Codes[1]), t.Depth, byte(t.Bits))
	}
	return b
}

// form says how a shape fills the box around it.
type form uint8

const (
	formBox     form = iota
	formRising       // within R of the line from lower left to upper right, both R inside the box
	formFalling      // of the line from upper left to lower right
)

func formOf(s *data.Shape) form {
	switch {
	case s.Kind == data.BoxShape:
		return formBox
	case (s.DX < 0) != (s.DY < 0) && s.DX != 0 && s.DY != 0:
		return formFalling
	}
	return formRising
}

func sixteenths(q sim.Fixed) int16 {
	return int16(max(-1<<15, min(q>>12, 1<<15-1)))
}

func appendMatch(b []byte, s *present.State) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Timer))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.PhaseFrames))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Frame))
	b = append(b, byte(s.Phase), s.Round, s.Wins[0], s.Wins[1], byte(s.RoundWinner), byte(s.MatchWinner), s.SlowMotion, s.Freeze)
	c := &s.Scene
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Frames))
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Struggle))
	b = append(b, c.Node, c.Owner, c.Target, c.Fallen)
	b = binary.LittleEndian.AppendUint16(b, c.Score[0])
	return binary.LittleEndian.AppendUint16(b, c.Score[1])
}

func appendFighter(b []byte, f *present.Fighter) []byte {
	le := binary.LittleEndian
	for _, v := range [...]int32{int32(f.X), int32(f.Y), int32(f.VX), int32(f.VY), f.Health, f.MaxHealth, f.Recoverable,
		f.Meter, f.MaxMeter, f.ActionFrame, f.ActionLength, f.ComboDamage} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = le.AppendUint16(b, uint16(f.Hitstop))
	b = le.AppendUint16(b, uint16(f.Hitlag))
	b = append(b, byte(f.ID), byte(f.Facing), byte(f.Action), byte(f.Move), byte(f.Contact), byte(f.Bits),
		f.ComboHits, f.JuggleHits, f.Partner, f.CancelOpen)
	b = le.AppendUint16(b, f.Word)
	m := &f.Mechanics
	for _, v := range [...]int16{m.AirJuggle, m.Heat, m.SoulCharge, m.CriticalEdge, m.ReversalEdge, m.KiCharge, m.PowerCrush,
		m.StanceEntry, m.StanceRecovery, m.StanceDuration} {
		b = le.AppendUint16(b, uint16(v))
	}
	g := &f.Gauges
	return append(b, m.StanceKind, byte(f.Code), g.Drive, g.Stun, g.Stamina, g.Heat, g.Hype, g.Resolve, g.Armor, byte(g.Place), g.Block, 0)
}

func appendShot(b []byte, p *present.Shot) []byte {
	for _, v := range [...]int32{int32(p.X), int32(p.Y), int32(p.VX), int32(p.VY), p.Life} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append(b, p.Owner, byte(p.Move), p.Durability, byte(p.Facing))
}

func appendEvent(b []byte, e *sim.Event) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Frame))
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Value))
	b = binary.LittleEndian.AppendUint16(b, uint16(e.X))
	b = binary.LittleEndian.AppendUint16(b, uint16(e.Y))
	return append(b, e.Fighter, byte(e.Kind), e.Serial, e.Variant)
}

// appendID writes the identity as sim.Event.ID packs it.
func appendID(b []byte, id uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(id>>32))
	return append(b, byte(id>>16), byte(id>>8), byte(id), 0)
}
