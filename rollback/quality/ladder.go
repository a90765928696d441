package quality

// Offer is where a match stands with the offer of delay mode.
type Offer uint8

const (
	Playing Offer = iota
	Offered
	Accepted
	Declined
)

// Ladder watches rollback pressure and makes the one offer of a match. A running match is never downgraded silently.
// The zero value is a match without an offer yet.
type Ladder struct {
	run       int
	offer     Offer
	confirmed bool // the opponent's own figures report the pressure too
}

// Sample takes the frames of rollback one tick demanded and reports whether delay mode is to be offered now:
// at the first time that many samples in a row were above the cap.
func (l *Ladder) Sample(frames, limit, inARow int) bool {
	if frames <= limit {
		l.run = 0
		return false
	}
	l.run++
	if l.run < inARow || l.offer != Playing {
		return false
	}
	l.offer = Offered
	return true
}

// Run is how many samples in a row were above the cap.
func (l *Ladder) Run() int { return l.run }

// Offer is where the match stands.
func (l *Ladder) Offer() Offer { return l.offer }

// Answer is the player's; it counts only while the offer stands and reports whether it did.
func (l *Ladder) Answer(accept bool) bool {
	if l.offer != Offered {
		return false
	}
	l.offer = Declined
	if accept {
		l.offer = Accepted
	}
	return true
}

// Opponent says that the opponent's own figures report the pressure too. Without it a side that is behind could end a
// ranked match by claiming a bad link.
func (l *Ladder) Opponent() { l.confirmed = true }

// Mode is the mode after the answer, given the mode before.
func (l *Ladder) Mode(before Mode) Mode {
	if l.offer == Accepted {
		return Delay
	}
	return before
}

// RankedSuspended reports whether a ranked match stopped counting: the offer was made, and both sides saw why.
func (l *Ladder) RankedSuspended() bool { return l.offer != Playing && l.confirmed }

// RankedNoContest reports whether it ends without a result: the offer was declined, and both sides saw why it was made.
func (l *Ladder) RankedNoContest() bool { return l.offer == Declined && l.confirmed }
