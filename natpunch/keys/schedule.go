package keys

import (
	"crypto/hkdf"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"backstep/natpunch/rendezvous"
)

const labelPrefix = "backstep 1 "

// PSKSize is the length of the DTLS pre-shared key in bytes.
const PSKSize = 32

// Keys derives the keys of one session. It may be read by several goroutines
// until Wipe. It prints as a placeholder.
type Keys struct {
	prk [sha512.Size]byte
}

// New extracts the pseudo-random key of RFC 5869 from isk with salt sid. Call it
// only after both confirmation tags were right, and wipe isk afterwards.
func New(sid, isk []byte) *Keys {
	prk, err := hkdf.Extract(sha512.New, isk, sid)
	if err != nil {
		// Extract fails only for hashes that a FIPS 140 build forbids, and
		// SHA-512 is not one.
		panic("keys: " + err.Error())
	}
	k := new(Keys)
	copy(k.prk[:], prk)
	clear(prk)
	return k
}

// expand is HKDF-Expand(PRK, "backstep 1 " + label, n).
func (k *Keys) expand(label string, n int) []byte {
	out, err := hkdf.Expand(sha512.New, k.prk[:], labelPrefix+label, n)
	if err != nil {
		panic("keys: " + err.Error())
	}
	return out
}

// DTLSPSK is the pre-shared key of the DTLS handshake.
func (k *Keys) DTLSPSK() []byte { return k.expand("dtls psk", PSKSize) }

// DTLSIdentity is the PSK identity and identity hint: "bs1-" and 16 hex digits.
// Both callbacks of a handshake compare it in constant time (hmac.Equal).
func (k *Keys) DTLSIdentity() string { return "bs1-" + hex.EncodeToString(k.expand("dtls id", 8)) }

// ICE is the user fragment (8 characters) and password (32 characters) of side's
// ICE agent of that generation. A new agent takes a new generation.
func (k *Keys) ICE(side rendezvous.Side, generation uint32) (ufrag, pwd string) {
	of := " " + side.String() + " " + strconv.FormatUint(uint64(generation), 10)
	return base64.StdEncoding.EncodeToString(k.expand("ice ufrag"+of, 6)),
		base64.StdEncoding.EncodeToString(k.expand("ice pwd"+of, 24))
}

// seal is the key with which side seals its messages.
func (k *Keys) seal(side rendezvous.Side) []byte { return k.expand("seal "+side.String(), 32) }

// Wipe overwrites the pseudo-random key; nothing can be derived afterwards.
func (k *Keys) Wipe() { clear(k.prk[:]) }

// String hides the key from logs.
func (Keys) String() string { return "[keys]" }

// GoString hides the key from %#v.
func (Keys) GoString() string { return "[keys]" }
