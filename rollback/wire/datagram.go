package wire

// Profile names the datagram profile, Channel the socket kind in the channel table.
const (
	Profile = "V2.Rollback.UDP.DTLS"
	Channel = "V2.Rollback.CustomSocket"
)

// Path is the two bits of the link byte that say which path a copy of a packet was sent on.
type Path uint8

const (
	PathRelay  Path = 1
	PathDirect Path = 2
)

// DatagramFlags describe what carries a packet and what it carries.
type DatagramFlags uint8

const (
	UDP DatagramFlags = 1 << iota
	DTLS
	SequenceNumbered
	AckPiggybacked
	FECProtected
)

// Datagram is what travels inside one DTLS record: a link byte and one packet.
type Datagram struct {
	Path   Path
	Packet []byte
}

// AppendDatagram appends the link byte of path and packet.
func AppendDatagram(b []byte, path Path, packet []byte) []byte {
	return append(append(b, byte(path)), packet...)
}

// ParseDatagram splits the inside of a DTLS record. Packet points into b.
func ParseDatagram(b []byte) (Datagram, error) {
	if len(b) < 2 {
		return Datagram{}, ErrTruncated
	}
	if b[0] != byte(PathRelay) && b[0] != byte(PathDirect) {
		return Datagram{}, ErrField
	}
	return Datagram{Path: Path(b[0]), Packet: b[1:]}, nil
}

// Flags describes the datagram that carries p, encrypted or not.
func (p *Packet) Flags(encrypted bool) DatagramFlags {
	f := UDP | SequenceNumbered | AckPiggybacked
	if encrypted {
		f |= DTLS
	}
	if p.HasFEC {
		f |= FECProtected
	}
	return f
}
