package wire

import (
	"bytes"
	"errors"
	"testing"
)

// TestEnvelope is WIRE-13, WIRE-14 and FEC-07: the wrapper's profile and flags.
func TestEnvelope(t *testing.T) {
	const base = UDP | SequenceNumbered
	tests := []struct {
		name      string
		p         Packet
		encrypted bool
		want      DatagramFlags
	}{
		{"WIRE-13: all flags", Packet{HasAck: true, HasFEC: true, Size: 4}, true, base | DTLS | AckPiggybacked | FECProtected},
		{"FEC-07: parity", Packet{HasAck: true, HasFEC: true, Size: 4, Index: 4, Parity: []byte{1}}, true, base | DTLS | AckPiggybacked | FECProtected},
		{"without FEC", Packet{HasAck: true}, true, base | DTLS | AckPiggybacked},
		{"WIRE-14: in clear", Packet{HasAck: true}, false, base | AckPiggybacked},
		{"the first packet", Packet{}, true, base | DTLS},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.p.Envelope(tt.encrypted)
			if e.Profile != "V2.Rollback.UDP.DTLS" || e.Flags != tt.want {
				t.Errorf("%s, flags %05b, want %05b", e.Profile, e.Flags, tt.want)
			}
		})
	}
	if Channel != "V2.Rollback.CustomSocket" {
		t.Errorf("X-11: channel is named %s", Channel)
	}
}

func TestDatagram(t *testing.T) {
	for _, path := range []Path{PathRelay, PathDirect} {
		b := AppendDatagram(nil, path, []byte("packet"))
		d, err := ParseDatagram(b)
		if err != nil || d.Path != path || string(d.Packet) != "packet" {
			t.Errorf("path %d came back as %+v, %v", path, d, err)
		}
	}
	tests := []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrTruncated},
		{"no packet", []byte{1}, ErrTruncated},
		{"no path", []byte{0, 0x80}, ErrField},
		{"two paths", []byte{3, 0x80}, ErrField},
		{"an unknown bit", []byte{5, 0x80}, ErrField},
		{"too long", append([]byte{1}, make([]byte, MaxPacket+1)...), ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseDatagram(tt.b); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte{1, 0x80, 1})
	f.Add([]byte{2, 'V', '2'})
	f.Add([]byte{3})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDatagram(b)
		if err == nil && !bytes.Equal(AppendDatagram(nil, d.Path, d.Packet), b) {
			t.Errorf("%x is not what %+v encodes to", b, d)
		}
	})
}
