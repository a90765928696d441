package wire

const (
	// Profile names the datagram profile: packets over UDP, each in a DTLS record of its own.
	Profile = "V2.Rollback.UDP.DTLS"
	// Channel names the same socket in the channel table.
	Channel = "V2.Rollback.CustomSocket"
)

// Path says which path one copy of a packet was sent on.
type Path uint8

const (
	PathRelay  Path = 1
	PathDirect Path = 2
)

// Datagram is the inside of one DTLS record: the link byte, which says the path, and one packet in either form.
//
//	+------+----------- - -
//	| path | packet
//	|  1   | 1 to 1200
//	+------+----------- - -
//
// A packet that goes out on two paths is two datagrams, encrypted separately, each of which says its own path.
type Datagram struct {
	Path   Path
	Packet []byte
}

// AppendDatagram appends the datagram that carries packet on path. It allocates only if b has no room.
func AppendDatagram(b []byte, path Path, packet []byte) []byte {
	return append(append(b, byte(path)), packet...)
}

// ParseDatagram splits the inside of a DTLS record; Packet points into b. Errors are ErrTruncated, ErrTooLong and, for a link byte
// that does not name one path, ErrField.
func ParseDatagram(b []byte) (Datagram, error) {
	switch {
	case len(b) < 2:
		return Datagram{}, ErrTruncated
	case len(b) > 1+MaxPacket:
		return Datagram{}, ErrTooLong
	case Path(b[0]) != PathRelay && Path(b[0]) != PathDirect:
		return Datagram{}, ErrField
	}
	return Datagram{Path: Path(b[0]), Packet: b[1:]}, nil
}

// DatagramFlags say what a datagram travels on and what it carries beside inputs.
type DatagramFlags uint8

const (
	UDP DatagramFlags = 1 << iota
	DTLS
	SequenceNumbered
	AckPiggybacked
	FECProtected
)

// Envelope describes the datagram around a packet, for reports and for whoever tells channels apart by it. None of it is on the
// wire: a profile is agreed before the first packet, and the flags follow from it and from the packet.
type Envelope struct {
	Profile string
	Flags   DatagramFlags
}

// Envelope describes the datagram that carries p over UDP, under DTLS if encrypted. AckPiggybacked is set as soon as there is
// something to acknowledge, FECProtected on data and parity of a FEC group.
func (p *Packet) Envelope(encrypted bool) Envelope {
	e := Envelope{Profile: Profile, Flags: UDP | SequenceNumbered}
	if encrypted {
		e.Flags |= DTLS
	}
	if p.HasAck {
		e.Flags |= AckPiggybacked
	}
	if p.HasFEC {
		e.Flags |= FECProtected
	}
	return e
}
