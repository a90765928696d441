package peer

import (
	"context"
	"sync/atomic"

	"backstep/natpunch/lobby"
	"backstep/peer/link"
)

type sealed struct {
	typ  byte
	body []byte
}

// signals reads the sealed messages of the lobby on one goroutine and sorts
// them: those that find a direct path go to the path manager, of which it is
// the Signaler; acceptance and new attempts go to the one who waits for them.
//
// The lobby's TCP connection does not outlive a restart of the relay or a new
// address of this machine, just when a new path has to be agreed on. So what
// finds a path goes through the encrypted link too, once there is one; whichever
// comes first counts, and the path manager drops the second.
type signals struct {
	session  *lobby.Session
	link     atomic.Pointer[link.Link]
	direct   chan sealed
	again    chan struct{}
	accepted chan struct{}
	gone     chan struct{} // closed when no message will come any more
	err      error         // valid once gone is closed
}

func newSignals(ctx context.Context, s *lobby.Session) *signals {
	g := &signals{
		session: s, direct: make(chan sealed, 16), again: make(chan struct{}, 4),
		accepted: make(chan struct{}), gone: make(chan struct{}),
	}
	go g.read(ctx)
	return g
}

func (g *signals) read(ctx context.Context) {
	defer close(g.gone)
	for {
		typ, body, err := g.session.Recv(ctx)
		if err != nil {
			g.err = err
			return
		}
		switch typ {
		case lobby.MsgAccept: // the session refuses a second one
			close(g.accepted)
		case lobby.MsgAgain:
			g.again <- struct{}{} // the session refuses a third one
		case lobby.MsgCandidates, lobby.MsgGo:
			select {
			case g.direct <- sealed{typ, body}:
			case <-ctx.Done():
			}
		}
	}
}

// attach makes the link carry what finds a path. Its message is the type and
// the body of the sealed one.
func (g *signals) attach(l *link.Link) {
	l.OnSide(func(msg []byte) bool {
		if msg[0] != lobby.MsgCandidates && msg[0] != lobby.MsgGo {
			return true // of a newer version; nothing to wait for
		}
		select {
		case g.direct <- sealed{msg[0], append([]byte(nil), msg[1:]...)}:
			return true
		default:
			return false
		}
	})
	g.link.Store(l)
}

// Send is the Signaler's. With a link the end of the lobby is no error.
func (g *signals) Send(typ byte, body []byte) error {
	l := g.link.Load()
	linked := l != nil && !l.Broken() && l.Post(append([]byte{typ}, body...))
	if err := g.session.Send(typ, body); err != nil && !linked {
		return err
	}
	return nil
}

// Recv is the Signaler's. With a link the end of the lobby is not the end.
func (g *signals) Recv(ctx context.Context) (byte, []byte, error) {
	gone := g.gone
	for {
		select {
		case m := <-g.direct:
			return m.typ, m.body, nil
		case <-gone:
			if g.link.Load() == nil {
				return 0, nil, g.err
			}
			gone = nil
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
}
