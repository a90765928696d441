package probe

import (
	"bytes"
	"time"

	"backstep/natpunch/rendezvous"
)

// tunnelWay is a registered tunnel.
type tunnelWay struct{ *socket }

func (t tunnelWay) put(b []byte) error { return t.send(b) }

func (t tunnelWay) get(want []byte, _ time.Duration) bool {
	b, err := t.next()
	return err == nil && bytes.Equal(b, want)
}

// tunnel takes both sides through TCP and forwards between them.
func (p *probe) tunnel() {
	if p.session == nil {
		p.report.add("tunnel", Skip, 0, "The tunnel was not tried: without a lobby there are no keys for it.")
		return
	}
	var ways [2]way
	for i := range ways {
		s, resp, err := p.open(rendezvous.TunnelPath)
		if err != nil {
			p.report.add("tunnel", Fail, 0, "No tunnel opens, so players whose network blocks UDP cannot play. %s", handshakeSentence(resp, err, p.Token != ""))
			return
		}
		defer s.ws.CloseNow()
		side := &p.session[i]
		if err := s.send(side.frame()); err != nil {
			p.report.add("tunnel", Fail, 0, "A tunnel opens but takes no registration (%v).", err)
			return
		}
		b, err := s.next()
		var ack rendezvous.Ack
		if err != nil || !rendezvous.CheckTag(b, &side.RegKey) || rendezvous.ParseAck(b, &ack) != nil {
			p.report.add("tunnel", Fail, 0, "A tunnel opens but its registration is not acknowledged.")
			return
		}
		ways[i] = tunnelWay{s}
	}
	p.forward("tunnel", "through the tunnel", ways[0], ways[1])
}
