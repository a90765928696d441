package relay

import (
	"net/netip"
	"time"

	"backstep/natpunch/rendezvous"
)

// register decides about a registration. The checks stand in the order that keeps strangers from getting answers or making
// state: form, expiry and tag first; then, for an address that is not the bound one, the cookie; then the counter, the lobby
// and the other side's address; only then is anything stored.
func (f *forwarder) register(now int64, via outlet, count *stats, src netip.AddrPort, b []byte, reply *[replySpace]byte) verdict {
	var r rendezvous.Reg
	if len(b) != rendezvous.RegSize {
		return verdict{drop: dropRegSize}
	}
	if rendezvous.ParseReg(b, &r) != nil {
		return verdict{drop: dropRegForm}
	}
	unix := f.clock.unix(now)
	if r.Expiry <= unix {
		return verdict{drop: dropRegExpired}
	}
	key := rendezvous.DeriveRegKey(&f.secret.key, r.Lobby, r.Channel, r.Side, r.Expiry)
	if !rendezvous.CheckTag(b, &key) {
		return verdict{drop: dropRegTag}
	}
	sh := f.table.shard(r.Channel)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	x := sh.m[r.Channel]
	known := x != nil && x.lobby == r.Lobby
	if !(known && x.sides[r.Side].addr == src) && !f.cookies.right(now, src, &r) {
		if !f.chalRate.take(now, src.Addr()) {
			return verdict{drop: dropRegRate}
		}
		chal := rendezvous.Chal{Side: r.Side, Channel: r.Channel, Counter: r.Counter, Cookie: f.cookies.issue(now, src, &r)}
		return verdict{out: rendezvous.AppendChal(reply[:0], &chal, &key), dst: src, via: via, kind: kindChallenge}
	}
	switch {
	case known && x.sides[r.Side].bound() && r.Counter <= x.sides[r.Side].counter:
		return verdict{drop: dropRegCounter}
	case x != nil && !known:
		return verdict{drop: dropRegLobby}
	case known && x.sides[r.Side.Other()].addr == src:
		return verdict{drop: dropRegAddress}
	}
	if x == nil {
		if len(sh.m) >= f.table.most {
			return verdict{drop: dropRegFull}
		}
		x = &session{lobby: r.Lobby, expiry: r.Expiry}
		sh.m[r.Channel] = x
	}
	me, other := &x.sides[r.Side], &x.sides[r.Side.Other()]
	switch {
	case !me.bound():
		count.binds.Add(1)
		f.onBind(r.Channel, src, false)
	case me.addr != src:
		count.moves.Add(1)
		f.onBind(r.Channel, src, true)
	}
	me.addr, me.via, me.counter, me.heard = src, via, r.Counter, now
	ack := rendezvous.Ack{
		Side: r.Side, Channel: r.Channel, Counter: r.Counter, Addr: src,
		PeerAge: rendezvous.PeerNever, TTL: x.expiry - unix,
	}
	if other.bound() {
		ack.PeerAge = uint16(min((now-other.heard)/int64(time.Second), rendezvous.PeerNever-1))
	}
	return verdict{out: rendezvous.AppendAck(reply[:0], &ack, &key), dst: src, via: via, kind: kindAck}
}
