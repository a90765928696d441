package accord

import "backstep/rollback/quality"

const (
	MaxPlayers = 4
	MaxWindow  = 20 // frames

	repeat     = 50_000     // µs between repetitions of a message that was not answered
	pollLimit  = 20_000_000 // µs for the players' answers
	mostFrames = 6          // frames proposed before a change is given up
	lead       = 8          // frames beyond twice the round trip that the first frame proposed lies ahead
)

// Terms are what all sides run a frame under.
type Terms struct {
	Mode   quality.Mode
	Window uint8 // frames that may be predicted, 1 to MaxWindow; it rests in delay mode
}

// Valid reports whether both are in range.
func (t Terms) Valid() bool {
	return t.Mode <= quality.Rollback && t.Window >= 1 && t.Window <= MaxWindow
}

// Event is what became of a change.
type Event struct {
	Changed bool   // Terms are in force from Frame on
	Frame   int32  // of the change
	Terms   Terms  // in force, or asked for
	Reason  Reason // why not
}

// Party is one side of an accord. Make it with New. It reads no clock and sends nothing: the owner calls Step once a
// tick, hands in what arrives (Receive) and sends what AppendMessage has for each other side (a guest talks to the host
// alone). One goroutine owns it. It does not allocate.
type Party struct {
	player, players int
	terms           Terms
	limit           uint8
	offer           quality.Offer
	newest          int32
	trip            int // frames

	asks   uint8 // number of this side's newest wish
	wish   Terms
	wanted bool // it is not dealt with yet

	host  hostState // the host's own, or what a guest heard last
	guest guestState
	since int64 // when the host's poll began, µs
	mine  vote  // the host's own answer

	pending bool // commit heard, frame not reached
	event   Event
	news    bool

	peers [MaxPlayers]peer
}

// peer is what is known of another side.
type peer struct {
	theirs   uint16 // newest revision heard
	revision uint16 // own newest
	acked    uint16 // own newest that was heard there
	sentAt   int64
	fresh    bool // the own newest was not sent yet
	answer   bool // an answer is wanted there

	head  head // as said last, without revision, heard and want
	host  hostState
	guest guestState

	offer   quality.Offer
	limit   uint8
	said    guestState // by a guest
	handled uint8      // number of its newest wish that was dealt with
}

// New is the side of a player in a match that begins under terms t, with at most MaxPlayers players. The window it
// affords is that of t until SetLimit.
func New(player, players int, t Terms) Party {
	p := Party{player: player, players: players, terms: t, limit: t.Window, newest: -1, wish: t}
	p.host.terms, p.guest.want = t, t
	p.guest.newest = -1
	for i := range p.peers {
		q := &p.peers[i]
		q.limit, q.said.newest = t.Window, -1
		q.head, q.host, q.guest = p.head(), p.host, p.guest
	}
	return p
}

// Terms are those in force at the frame last stepped.
func (p *Party) Terms() Terms { return p.terms }

// SetLimit says how deep a window this side affords, 1 to MaxWindow, clamped.
func (p *Party) SetLimit(window int) { p.limit = uint8(min(max(window, 1), MaxWindow)) }

// Limit is the deepest window that all sides afford, as far as they have said.
func (p *Party) Limit() int {
	n := p.limit
	for i := range p.players {
		if i != p.player && (p.player == 0 || i == 0) {
			n = min(n, p.peers[i].limit)
		}
	}
	return int(n)
}

// SetOffer tells the others where this side's own offer of delay mode stands.
func (p *Party) SetOffer(o quality.Offer) { p.offer = o }

// Offer is where the offer of delay mode stands on another side, as that side says. Guests hear of the host's alone.
func (p *Party) Offer(player int) quality.Offer {
	if player < 0 || player >= p.players {
		return quality.Playing
	}
	return p.peers[player].offer
}

// Ask says that this side wants other terms. It reports false, and does nothing, while a wish of this side's is not
// dealt with, or if t is not valid: a window is named also for delay mode. Event tells what became of it.
func (p *Party) Ask(t Terms) bool {
	if p.wanted || !t.Valid() {
		return false
	}
	p.wish, p.wanted = t, true
	if p.asks++; p.asks == 0 {
		p.asks = 1
	}
	return true
}

// Asking reports whether a wish of this side's is not dealt with yet, Open whether any change is under way.
func (p *Party) Asking() bool { return p.wanted }

// Open reports whether a change is under way as far as this side knows.
func (p *Party) Open() bool {
	return p.host.stage == Poll || p.host.stage == Propose || p.host.stage == Commit && (p.pending || p.player == 0)
}

// Rests reports whether the next Step can do nothing: no change is under way and none is wished for.
func (p *Party) Rests() bool {
	if p.wanted || p.pending {
		return false
	}
	if p.player != 0 {
		return p.host.stage != Poll && p.host.stage != Propose
	}
	if p.host.stage != Idle {
		return false
	}
	for g := 1; g < p.players; g++ {
		if q := &p.peers[g]; q.said.ask != q.handled {
			return false
		}
	}
	return true
}

// Asked is a change that waits for this side's Answer: another side asked for another mode. A change of the window alone
// needs none, since no side is given more than it affords.
func (p *Party) Asked() (t Terms, ok bool) {
	if p.host.stage != Poll || int(p.host.asker) == p.player || p.host.terms.Mode == p.terms.Mode {
		return Terms{}, false
	}
	return p.host.terms, p.vote() == undecided
}

// Answer is the player's answer to Asked. Without a question it does nothing.
func (p *Party) Answer(accept bool) {
	if _, ok := p.Asked(); !ok {
		return
	}
	v := no
	if accept {
		v = yes
	}
	if p.player == 0 {
		p.mine = v
	} else {
		p.guest.vote = v
	}
}

func (p *Party) vote() vote {
	if p.player == 0 {
		return p.mine
	}
	return p.guest.vote
}

// Event is what became of the last change, once.
func (p *Party) Event() (e Event, ok bool) {
	e, ok = p.event, p.news
	p.news = false
	return e, ok
}

// Hold reports whether frame must not be stepped yet, because it is not known here under which terms.
func (p *Party) Hold(frame int32) bool {
	return p.player != 0 && p.host.stage == Propose && p.guest.vote == ready && frame >= p.host.frame
}

// Step is called before each tick, at time now in µs, with the newest frame stepped and the round trip to the slowest
// other side in frames. If changed, the frame after newest and all later ones are run under t.
func (p *Party) Step(now int64, newest int32, trip int) (t Terms, changed bool) {
	p.newest, p.trip = newest, max(trip, 0)
	if p.player == 0 {
		p.lead(now)
	}
	if p.host.stage != Commit || !p.pending || newest+1 < p.host.frame {
		return Terms{}, false
	}
	p.pending = false
	p.terms, p.guest.vote = p.host.terms, done
	p.close(Event{Changed: true, Frame: p.host.frame, Terms: p.terms})
	return p.terms, true
}

// close ends a change.
func (p *Party) close(e Event) {
	p.event, p.news = e, true
	if int(p.host.asker) == p.player && p.wanted && p.host.ask == p.asks {
		p.wanted = false
	}
}
