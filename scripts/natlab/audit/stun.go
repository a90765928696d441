package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"backstep/natpunch/stunguard"
	"backstep/scripts/natlab/wiretap"
)

const (
	stunHeader = 20

	attrUsername  = 0x0006
	attrIntegrity = 0x0008
	attrMapped    = 0x0020
)

// What ICE and the relay may put into a message besides integrity and fingerprint. Anything else, a SOFTWARE name for
// example, would tell strangers more than they need.
var (
	checkAttributes  = map[uint16]bool{attrUsername: true, attrIntegrity: true, 0x0024: true, 0x0025: true, 0x8029: true, 0x802A: true}
	answerAttributes = map[uint16]bool{attrMapped: true, attrIntegrity: true}
)

const attrFingerprint = 0x8028

// attributes lists the attributes of a message that passed stunguard.Check.
func attributes(b []byte) map[uint16][]byte {
	found := make(map[uint16][]byte)
	for off := stunHeader; off+4 <= len(b); {
		size := int(binary.BigEndian.Uint16(b[off+2:]))
		found[binary.BigEndian.Uint16(b[off:])] = b[off+4 : off+4+size]
		off += 4 + (size+3)&^3
	}
	return found
}

// stun judges a STUN message. users are the ICE user fragments in it.
func (r *Rules) stun(p *wiretap.Packet) (kind Kind, users []string, wrong string) {
	b := p.Payload
	if err := stunguard.Check(b); err != nil {
		return 0, nil, err.Error()
	}
	attrs := attributes(b)
	only := func(allowed map[uint16]bool) string {
		for typ := range attrs {
			if typ != attrFingerprint && !allowed[typ] {
				return fmt.Sprintf("a STUN attribute %04x", typ)
			}
		}
		return ""
	}
	class := stunguard.ClassOf(b)
	switch {
	case r.isRelay(p.Dst.Addr()):
		if class != stunguard.Request || !bytes.Equal(b, stunguard.AppendRequest(nil, stunguard.TransactionIDOf(b))) {
			return 0, nil, "a STUN message to the relay that is not our padded request"
		}
		return STUNRequest, nil, ""
	case r.isRelay(p.Src.Addr()):
		if class != stunguard.Success || attrs[attrMapped] == nil || attrs[attrIntegrity] != nil {
			return 0, nil, "a STUN message of the relay that is not an answer to our request"
		}
		return STUNAnswer, nil, only(answerAttributes)
	case attrs[attrIntegrity] == nil:
		return 0, nil, "a STUN message between players without integrity"
	case class == stunguard.Success && attrs[attrMapped] != nil:
		return ICEAnswer, nil, only(answerAttributes)
	case class == stunguard.Request && attrs[attrUsername] != nil:
		for _, u := range bytes.SplitN(attrs[attrUsername], []byte{':'}, 2) {
			users = append(users, string(u))
		}
		return ICECheck, users, only(checkAttributes)
	}
	return 0, nil, "a STUN message between players that is neither check nor answer"
}
