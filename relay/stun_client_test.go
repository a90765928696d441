package relay

import (
	"testing"

	"backstep/natpunch/stunguard"
)

// What players' NAT checks send is what a relay understands: both kinds of request parse, are long enough to be answered to either
// family, and only one asks for the other port.
func TestStunOfOurClient(t *testing.T) {
	id := stunguard.TransactionID{1, 2, 3}
	for _, tt := range []struct {
		name   string
		b      []byte
		change uint32
	}{
		{"request", stunguard.AppendRequest(nil, id), 0},
		{"change port", stunguard.AppendChangePort(nil, id), changePort},
	} {
		r, ok := parseStun(tt.b)
		if !ok || r.change != tt.change || r.transaction != id || len(tt.b) != stunguard.RequestSize {
			t.Errorf("%s: %+v, %v, %d bytes", tt.name, r, ok, len(tt.b))
		}
	}
}
