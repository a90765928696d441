package cpace

import (
	"crypto/hmac"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"

	"github.com/gtank/ristretto255"

	"backstep/natpunch/rendezvous"
)

// Failures of a run. For a host each of them is one failed guess.
var (
	// ErrShare: the other side's share is not the canonical encoding of a group element.
	ErrShare = errors.New("cpace: invalid share")
	// ErrIdentity: the shared point is the identity, which anybody can force who
	// need not know the code.
	ErrIdentity = errors.New("cpace: the shared point is the identity")
	// ErrConfirm: the other side's tag does not prove that it knows the code.
	ErrConfirm = errors.New("cpace: wrong confirmation")
	// ErrSpent: the run has already been finished.
	ErrSpent = errors.New("cpace: run already finished")
)

const (
	dsi    = "CPaceRistretto255"
	dsiISK = "CPaceRistretto255_ISK"
	dsiMAC = "CPaceMac"
	// hashBlock is s_in_bytes of SHA-512, the length the padding fills.
	hashBlock = sha512.BlockSize
)

// ISK is the intermediate session key: input of a key derivation, never a key.
type ISK [sha512.Size]byte

// Wipe overwrites the key.
func (k *ISK) Wipe() { clear(k[:]) }

// String hides the key from logs.
func (ISK) String() string { return "[isk]" }

// GoString hides the key from %#v.
func (ISK) GoString() string { return "[isk]" }

// Initiator is the host's side of one run, between its share and the joiner's
// confirmation.
type Initiator struct {
	y     *ristretto255.Scalar // nil once spent
	share rendezvous.Share
	ad    []byte
	sid   []byte
}

// NewInitiator draws ya from rand (crypto/rand.Reader outside tests) and
// computes Ya. It keeps copies of ad and sid and nothing of prs.
func NewInitiator(rand io.Reader, prs, ci, sid, ad []byte) (*Initiator, error) {
	y, err := drawScalar(rand)
	if err != nil {
		return nil, err
	}
	return initiate(y, prs, ci, sid, ad), nil
}

func initiate(y *ristretto255.Scalar, prs, ci, sid, ad []byte) *Initiator {
	return &Initiator{
		y:     y,
		share: makeShare(y, generator(prs, ci, sid)),
		ad:    append([]byte(nil), ad...),
		sid:   append([]byte(nil), sid...),
	}
}

// Share is Ya.
func (i *Initiator) Share() rendezvous.Share { return i.share }

// Finish takes the joiner's share, associated data and tag. Only if Tb is right
// does it return the key and Ta, the tag to send. It spends the run whatever the
// outcome.
func (i *Initiator) Finish(yb *rendezvous.Share, adb []byte, tb *rendezvous.Tag) (*ISK, rendezvous.Tag, error) {
	if i.y == nil {
		return nil, rendezvous.Tag{}, ErrSpent
	}
	defer i.Wipe()
	k, err := sharedPoint(i.y, yb)
	if err != nil {
		return nil, rendezvous.Tag{}, err
	}
	isk := deriveISK(i.sid, &k, i.share[:], i.ad, yb[:], adb)
	clear(k[:])
	mac := macKey(i.sid, isk)
	defer clear(mac)
	want := tagOf(mac, yb[:], adb)
	if !hmac.Equal(want[:], tb[:]) {
		isk.Wipe()
		return nil, rendezvous.Tag{}, ErrConfirm
	}
	return isk, tagOf(mac, i.share[:], i.ad), nil
}

// Wipe ends a run that will not be finished. It may be called more than once.
func (i *Initiator) Wipe() {
	if i.y != nil {
		i.y.Zero()
		i.y = nil
	}
}

// Responder is the joiner's side of one run, between its confirmation and the
// host's.
type Responder struct {
	isk *ISK // nil once spent
	ta  rendezvous.Tag
}

// Respond draws yb from rand and answers the host's share: yb and tb go into
// SHARE_B together.
func Respond(rand io.Reader, prs, ci, sid []byte, ya *rendezvous.Share, ada, adb []byte) (r *Responder, yb rendezvous.Share, tb rendezvous.Tag, err error) {
	y, err := drawScalar(rand)
	if err != nil {
		return nil, rendezvous.Share{}, rendezvous.Tag{}, err
	}
	return respond(y, prs, ci, sid, ya, ada, adb)
}

func respond(y *ristretto255.Scalar, prs, ci, sid []byte, ya *rendezvous.Share, ada, adb []byte) (r *Responder, yb rendezvous.Share, tb rendezvous.Tag, err error) {
	defer y.Zero()
	k, err := sharedPoint(y, ya)
	if err != nil {
		return nil, rendezvous.Share{}, rendezvous.Tag{}, err
	}
	yb = makeShare(y, generator(prs, ci, sid))
	isk := deriveISK(sid, &k, ya[:], ada, yb[:], adb)
	clear(k[:])
	mac := macKey(sid, isk)
	defer clear(mac)
	return &Responder{isk: isk, ta: tagOf(mac, ya[:], ada)}, yb, tagOf(mac, yb[:], adb), nil
}

// Finish takes the host's tag and returns the key if it is right. It spends the
// run whatever the outcome.
func (r *Responder) Finish(ta *rendezvous.Tag) (*ISK, error) {
	if r.isk == nil {
		return nil, ErrSpent
	}
	isk := r.isk
	right := hmac.Equal(r.ta[:], ta[:])
	r.isk = nil
	r.Wipe()
	if !right {
		isk.Wipe()
		return nil, ErrConfirm
	}
	return isk, nil
}

// Wipe ends a run that will not be finished. It may be called more than once.
func (r *Responder) Wipe() {
	if r.isk != nil {
		r.isk.Wipe()
		r.isk = nil
	}
	clear(r.ta[:])
}

// generator is calculate_generator of the draft: the 64 uniform bytes go through
// the one-way map of RFC 9496 4.3.4.
func generator(prs, ci, sid []byte) *ristretto255.Element {
	pad := max(0, hashBlock-1-len(appendLV(nil, prs))-len(appendLV(nil, []byte(dsi))))
	in := lvCat([]byte(dsi), prs, make([]byte, pad), ci, sid)
	h := sha512.Sum512(in)
	clear(in)
	g := ristretto255.NewElement().FromUniformBytes(h[:])
	clear(h[:])
	return g
}

func makeShare(y *ristretto255.Scalar, g *ristretto255.Element) (s rendezvous.Share) {
	copy(s[:], ristretto255.NewElement().ScalarMult(y, g).Encode(nil))
	return s
}

// sharedPoint is scalar_mult_vfy of the draft. Decode accepts the identity (it
// is a canonical encoding), so the product is tested for it; the order of the
// group is prime and the scalar is not zero, so nothing else gives it.
func sharedPoint(y *ristretto255.Scalar, theirs *rendezvous.Share) (k [32]byte, err error) {
	p := ristretto255.NewElement()
	if err := p.Decode(theirs[:]); err != nil {
		return k, ErrShare
	}
	p.ScalarMult(y, p)
	if p.Equal(ristretto255.NewElement()) == 1 {
		return k, ErrIdentity
	}
	copy(k[:], p.Encode(nil))
	p.Zero()
	return k, nil
}

func deriveISK(sid []byte, k *[32]byte, ya, ada, yb, adb []byte) *ISK {
	in := append(lvCat([]byte(dsiISK), sid, k[:]), transcript(ya, ada, yb, adb)...)
	isk := ISK(sha512.Sum512(in))
	clear(in)
	return &isk
}

func macKey(sid []byte, isk *ISK) []byte {
	in := append(append([]byte(dsiMAC), sid...), isk[:]...)
	k := sha512.Sum512(in)
	clear(in)
	return k[:]
}

func tagOf(mac, share, ad []byte) (t rendezvous.Tag) {
	h := hmac.New(sha512.New, mac)
	h.Write(lvCat(share, ad))
	h.Sum(t[:0])
	return t
}

func drawScalar(rand io.Reader) (*ristretto255.Scalar, error) {
	var b [64]byte
	defer clear(b[:])
	zero := ristretto255.NewScalar()
	for {
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return nil, fmt.Errorf("cpace: no randomness: %w", err)
		}
		y := ristretto255.NewScalar().FromUniformBytes(b[:])
		if y.Equal(zero) == 0 {
			return y, nil
		}
	}
}
