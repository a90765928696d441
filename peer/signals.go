package peer

import (
	"context"

	"backstep/natpunch/lobby"
)

type sealed struct {
	typ  byte
	body []byte
}

// signals reads the sealed messages of the lobby on one goroutine and sorts
// them: those that find a direct path go to the path manager, of which it is
// the Signaler; acceptance and new attempts go to the one who waits for them.
type signals struct {
	session  *lobby.Session
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

// Send is the Signaler's.
func (g *signals) Send(typ byte, body []byte) error { return g.session.Send(typ, body) }

// Recv is the Signaler's.
func (g *signals) Recv(ctx context.Context) (byte, []byte, error) {
	select {
	case m := <-g.direct:
		return m.typ, m.body, nil
	case <-g.gone:
		return 0, nil, g.err
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
}
