package ackbits

// Constants of the loss estimator. The two spans answer different questions:
// the fast one follows a link that turns bad within two seconds of 60 Hz play,
// the slow one does not forget it at the first quiet moment.
const (
	fastShift  = 7 // mean over 128 packets
	slowShift  = 9 // mean over 512 packets
	afterShift = 5 // q over the last 32 losses
	burstShift = 4 // burst length over the last 16 bursts

	// replayed bounds the work of one LoseMany. After it the slow mean is
	// within e⁻⁸ of One, which is all a longer gap could add.
	replayed = 8 << slowShift
)

// Loss estimates the loss of a packet stream from the fate of its packets, told
// in sequence order. It measures how much is lost and how losses cluster, which
// are different things: random loss is beaten by redundancy, a burst is not.
// The zero value has seen nothing and estimates 0.
type Loss struct {
	fast, slow, after Ratio
	prevLost          bool

	observed, lost, bursts, run, longest uint64
	burst                                uint64 // mean length of a burst, 1/1024 packets
}

// Observe records the fate of the next packet of the stream.
func (l *Loss) Observe(lost bool) {
	if lost || l.prevLost {
		l.observe(lost)
		return
	}
	// The common case, small enough to be inlined: both means decay.
	l.fast -= (l.fast + 1<<fastShift - 1) >> fastShift
	l.slow -= (l.slow + 1<<slowShift - 1) >> slowShift
	l.observed++
}

func (l *Loss) observe(lost bool) {
	var target Ratio
	if lost {
		target = One
	}
	l.fast = l.fast.approach(target, fastShift)
	l.slow = l.slow.approach(target, slowShift)
	if l.prevLost {
		l.after = l.after.approach(target, afterShift)
	}
	l.observed++
	if lost {
		l.lost++
		l.run++
		l.longest = max(l.longest, l.run)
	} else if l.prevLost {
		l.endBurst()
	}
	l.prevLost = lost
}

// LoseMany is Observe(true) n times over, in bounded time.
func (l *Loss) LoseMany(n uint64) {
	steps := min(n, replayed)
	for range steps {
		l.Observe(true)
	}
	rest := n - steps
	l.observed += rest
	l.lost += rest
	l.run += rest
	l.longest = max(l.longest, l.run)
}

func (l *Loss) endBurst() {
	length := min(l.run, 1<<16) << 10
	if l.bursts == 0 {
		l.burst = length
	} else {
		l.burst = uint64(int64(l.burst) + (int64(length)-int64(l.burst))>>burstShift)
	}
	l.bursts++
	l.run = 0
}

// Fast is the exponentially weighted mean of loss over 128 packets.
func (l *Loss) Fast() Ratio { return l.fast }

// Slow is the exponentially weighted mean of loss over 512 packets.
func (l *Loss) Slow() Ratio { return l.slow }

// Mean is the larger of Fast and Slow: quick to believe in loss, slow to
// believe that it is over.
func (l *Loss) Mean() Ratio { return max(l.fast, l.slow) }

// AfterLoss is q, the probability that a packet is lost given that the one
// before it was, as a mean over the last 32 such packets. It equals the loss
// rate when losses are independent and tends to 1 when they come in bursts.
func (l *Loss) AfterLoss() Ratio { return l.after }

// BurstMilli is the mean number of packets lost in a row, in thousandths of a
// packet, over the last 16 bursts that have ended: 0 before the first, otherwise
// at least 1000.
func (l *Loss) BurstMilli() uint32 { return uint32(l.burst * 1000 >> 10) }

// LongestBurst is the largest number of packets lost in a row so far.
func (l *Loss) LongestBurst() uint64 { return l.longest }

// Bursts is the number of runs of lost packets that have ended.
func (l *Loss) Bursts() uint64 { return l.bursts }

// Observed is the number of packets whose fate was told, Lost how many of them
// were lost.
func (l *Loss) Observed() uint64 { return l.observed }

// Lost is the number of packets told as lost.
func (l *Loss) Lost() uint64 { return l.lost }
