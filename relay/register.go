package relay

import (
	"net/netip"
	"time"

	"backstep/natpunch/rendezvous"
)

// register decides about a registration. The checks stand in the order that keeps strangers from getting answers or making
// state: form, expiry and tag first; then, for an address that is not the bound one, the cookie; then the counter, the lobby
// and the other side's address; only then is anything stored.
//
// proven says that the way the frame came proves its sender by itself, as TCP does. seen is what the sender is told as its
// address.
func (f *forwarder) register(now int64, src route, seen netip.AddrPort, proven bool, count *stats, b []byte, reply *[replySpace]byte) verdict {
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
	if !proven && !(known && x.sides[r.Side].addr == src.addr) && !f.cookies.right(now, seen, &r) {
		if !f.chalRate.take(now, seen.Addr()) {
			return verdict{drop: dropRegRate}
		}
		chal := rendezvous.Chal{Side: r.Side, Channel: r.Channel, Counter: r.Counter, Cookie: f.cookies.issue(now, seen, &r)}
		return verdict{out: rendezvous.AppendChal(reply[:0], &chal, &key), to: src, kind: kindChallenge}
	}
	switch {
	case known && x.sides[r.Side].heard != 0 && r.Counter <= x.sides[r.Side].counter:
		return verdict{drop: dropRegCounter}
	case x != nil && !known:
		return verdict{drop: dropRegLobby}
	case known && x.sides[r.Side.Other()].addr == src.addr:
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
		f.onBind(r.Channel, seen, false)
	case me.addr != src.addr:
		count.moves.Add(1)
		f.onBind(r.Channel, seen, true)
		if old, ok := me.via.(*tunnel); ok {
			old.replaced(src.via)
		}
	}
	me.route, me.counter, me.heard = src, r.Counter, now
	ack := rendezvous.Ack{
		Side: r.Side, Channel: r.Channel, Counter: r.Counter, Addr: seen,
		PeerAge: rendezvous.PeerNever, TTL: x.expiry - unix,
	}
	if other.bound() {
		ack.PeerAge = uint16(min((now-other.heard)/int64(time.Second), rendezvous.PeerNever-1))
	}
	return verdict{out: rendezvous.AppendAck(reply[:0], &ack, &key), to: src, kind: kindAck}
}
