package relay

import (
	"crypto/rand"
	"net/netip"
	"sync"
	"time"

	"backstep/natpunch/rendezvous"
)

// cookiePeriod is how long a cookie key makes cookies. They are accepted for one period more.
const cookiePeriod = time.Minute

// cookies proves that a sender receives at its address without remembering it (the idea of RFC 6347 4.2.1): see
// rendezvous.Cookie. The key is random and is replaced every minute.
type cookies struct {
	mu        sync.Mutex
	born      int64
	cur, prev [32]byte
}

func (c *cookies) keys(now int64) (cur, prev [32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch age := now - c.born; {
	case c.born == 0 || age >= 2*int64(cookiePeriod):
		rand.Read(c.cur[:])
		rand.Read(c.prev[:])
		c.born = now
	case age >= int64(cookiePeriod):
		c.prev = c.cur
		rand.Read(c.cur[:])
		c.born += int64(cookiePeriod)
	}
	return c.cur, c.prev
}

// issue returns the cookie that src must echo.
func (c *cookies) issue(now int64, src netip.AddrPort, r *rendezvous.Reg) rendezvous.CookieValue {
	cur, _ := c.keys(now)
	return rendezvous.Cookie(&cur, src, r.Channel, r.Side, r.Lobby)
}

// right reports whether the cookie in r was issued to src within the last one to two periods.
func (c *cookies) right(now int64, src netip.AddrPort, r *rendezvous.Reg) bool {
	if r.Cookie.IsZero() {
		return false
	}
	cur, prev := c.keys(now)
	return rendezvous.Cookie(&cur, src, r.Channel, r.Side, r.Lobby).Equal(r.Cookie) ||
		rendezvous.Cookie(&prev, src, r.Channel, r.Side, r.Lobby).Equal(r.Cookie)
}
