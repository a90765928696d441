package rollback

import (
	"backstep/rollback/quality"
	"backstep/rollback/tally"
)

// Both counts what went out and what came in.
type Both struct{ Sent, Received int64 }

// LinkStats are the figures of one link since it started or since ResetStats.
type LinkStats struct {
	Packets struct {
		Sent, Received int64 // of every kind; damaged ones too
		Lost           int64 // never acknowledged
		Duplicate      int64
		Stale          int64 // too old to be acknowledged, or from another time
		Malformed      int64 // did not parse
		Refused        int64 // parsed, but impossible
	}
	Bytes Both // of packets, without anything below them

	LossMillionths int64           // inbound, before parity repaired any
	RTT            tally.Histogram // µs, free of tick quantisation
	Jitter         int64           // µs, smoothed deviation of one way
	InputBytes     tally.Histogram // coded inputs of each packet

	Second        int64 // second datagrams
	Parity        int64 // parity packets sent
	Recovered     int64 // packets rebuilt
	Unrecoverable int64 // packets missing from groups with too little parity

	LagRefused     int64 // claimed lags that contradict the round trip
	OpponentStalls int64 // ticks on which the other side did not advance, as far as heard
	OpponentHz     int64 // the other side's frames a second, in thousandths; 0 unknown
}

// Stats are the figures so far. The histograms are the link's own.
func (l *Link[S, W]) Stats() LinkStats {
	st := l.stats
	sent, received := l.sent.Stats(), l.received.Stats()
	st.Packets.Lost = max(int64(sent.NeverAcked())-int64(l.sentBase.NeverAcked()), 0)
	st.Packets.Duplicate = int64(received.Duplicate - l.receivedBase.Duplicate)
	st.Packets.Stale = int64(received.Stale + received.Far - l.receivedBase.Stale - l.receivedBase.Far)
	loss := l.received.Loss()
	if n := loss.Observed() - l.observeBase; n > 0 {
		st.LossMillionths = int64((loss.Lost() - l.lossBase) * 1_000_000 / n)
	}
	st.RTT, st.Jitter, st.InputBytes = l.trip, l.sync.Jitter(), l.inputBytes
	fec := l.decoder.Stats()
	st.Recovered, st.Unrecoverable = int64(fec.Recovered), int64(fec.Unrecoverable)
	if span := l.newestAt - l.firstAt; span > 0 {
		st.OpponentHz = int64(l.newest-l.first) * 1_000_000_000 / span
	}
	return st
}

func (l *Link[S, W]) resetStats() {
	l.stats = LinkStats{}
	l.sentBase, l.receivedBase = l.sent.Stats(), l.received.Stats()
	l.observeBase, l.lossBase = l.received.Loss().Observed(), l.received.Loss().Lost()
	l.trip.Reset()
	l.inputBytes.Reset()
	l.first, l.firstAt = l.newest, l.newestAt
}

// Stats are a driver's figures since it started or since ResetStats.
type Stats struct {
	Mode    quality.Mode // now
	Session SessionStats
	Sync    SyncStats
	Link    LinkStats // to the other player of two; with more, ask each Link
}

// SyncStats tell how well the players ran level.
type SyncStats struct {
	WaitFrames       int64           // ticks held back at the start
	Offset           tally.Histogram // distance from where this side wanted to be, µs
	RateMin, RateMax int64           // parts per billion of the nominal rate; 0 if there was no need to measure
}

// Stats are the figures so far. The histograms are the driver's own.
func (d *Driver[S, W]) Stats() Stats {
	s := d.s.Stats()
	return Stats{
		Mode:    d.s.cfg.Mode,
		Session: s,
		Sync:    SyncStats{WaitFrames: s.Waited, Offset: d.offsets, RateMin: d.rateMin, RateMax: d.rateMax},
		Link:    d.other.Stats(),
	}
}

// ResetStats starts all figures anew, for measuring from a point on.
func (d *Driver[S, W]) ResetStats() {
	d.s.ResetStats()
	d.offsets.Reset()
	d.rateMin, d.rateMax = 0, 0
	for _, l := range d.links {
		l.resetStats()
	}
}
