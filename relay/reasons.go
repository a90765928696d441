package relay

import "sync/atomic"

// reason says why a datagram was dropped. The names are the values of the label "reason" of the metrics.
type reason uint8

const (
	keep reason = iota // not dropped

	dropEmpty
	dropUnknownType
	dropStunOnly
	dropStunShort
	dropStunMalformed
	dropStunChange
	dropStunRate
	dropRegSize
	dropRegForm
	dropRegExpired
	dropRegTag
	dropRegRate
	dropRegCounter
	dropRegLobby
	dropRegAddress
	dropRegFull
	dropDataSize
	dropDataChannel
	dropDataSource
	dropDataUnbound
	dropDataSilent
	dropDataExpired
	dropDataPackets
	dropDataBytes
	dropTunnel
	dropTunnelQueue
	dropBudget
	dropAmplify
	dropPanic
	dropSend
	dropReceive
	reasons
)

var reasonNames = [reasons]string{
	keep:              "none",
	dropEmpty:         "empty",
	dropUnknownType:   "unknown_type",
	dropStunOnly:      "stun_only",
	dropStunShort:     "stun_short",
	dropStunMalformed: "stun_malformed",
	dropStunChange:    "stun_change",
	dropStunRate:      "stun_rate",
	dropRegSize:       "register_size",
	dropRegForm:       "register_form",
	dropRegExpired:    "register_expired",
	dropRegTag:        "register_tag",
	dropRegRate:       "register_rate",
	dropRegCounter:    "register_counter",
	dropRegLobby:      "register_lobby",
	dropRegAddress:    "register_address",
	dropRegFull:       "register_full",
	dropDataSize:      "data_size",
	dropDataChannel:   "data_channel",
	dropDataSource:    "data_source",
	dropDataUnbound:   "data_unbound",
	dropDataSilent:    "data_silent",
	dropDataExpired:   "data_expired",
	dropDataPackets:   "data_packet_rate",
	dropDataBytes:     "data_byte_rate",
	dropTunnel:        "tunnel_frame",
	dropTunnelQueue:   "tunnel_queue",
	dropBudget:        "egress_budget",
	dropAmplify:       "amplification",
	dropPanic:         "panic",
	dropSend:          "send_error",
	dropReceive:       "receive_error",
}

// kind is what a datagram was, received or sent. The names are the values of the label "kind" of the metrics.
type kind uint8

const (
	kindOther kind = iota
	kindStun
	kindRegister
	kindChallenge
	kindAck
	kindData
	kinds
)

var kindNames = [kinds]string{"other", "stun", "register", "challenge", "ack", "data"}

// stats counts what one socket did. It is written by the socket's worker and read by the metrics; atomics keep the two apart.
// Workers do not share one, so that they do not share its cache lines.
type stats struct {
	received, receivedBytes [kinds]atomic.Uint64
	sent, sentBytes         [kinds]atomic.Uint64
	dropped                 [reasons]atomic.Uint64
	binds                   atomic.Uint64
	moves                   atomic.Uint64
	_                       [64]byte
}

func (s *stats) drop(r reason) { s.dropped[r].Add(1) }

func (s *stats) in(k kind, n int) {
	s.received[k].Add(1)
	s.receivedBytes[k].Add(uint64(n))
}

func (s *stats) out(k kind, n int) {
	s.sent[k].Add(1)
	s.sentBytes[k].Add(uint64(n))
}
