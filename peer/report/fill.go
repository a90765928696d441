package report

import (
	"backstep/peer/match"
	"backstep/rollback"
	"backstep/rollback/quality"
	"backstep/rollback/tally"
	"backstep/sim"
)

// New is a report in which nothing is measured yet.
func New(build, side string) *Report {
	return &Report{
		Version: Version, Build: build, Side: side, DataHash: Hex(sim.DataHash()),
		PathChanges: []PathChange{}, HashesEvery600: []FrameHash{}, Events: []Event{},
	}
}

// Of is a pointer to v: a measured value.
func Of[T any](v T) *T { return &v }

// FillMatch enters what the match loop measured.
func (r *Report) FillMatch(o match.Outcome) {
	r.EndReason = o.End.String()
	r.Frames, r.ConfirmedFrames, r.Desyncs = o.Frames, o.Confirmed, o.Desyncs
	if o.HasFinal {
		r.FinalHash = Of(Hex(o.FinalHash))
	}
	for _, h := range o.Hashes {
		r.HashesEvery600 = append(r.HashesEvery600, FrameHash{int32(h[0]), Hex(h[1])})
	}
	for _, e := range o.Events {
		r.Events = append(r.Events, Event(e))
	}
	if !o.Known {
		return
	}
	r.Seed = Of(Hex(o.Match.Seed))
	r.Ruleset = Of(sim.Ruleset(o.Match.Ruleset).String())
	r.Format = Of(sim.Format(o.Match.Format).String())
	r.session(&o.Stats)
	r.network(&o.Stats.Link, o.Malformed)
	if s := o.Opponent; o.HasOpponent {
		r.Opponent = Opponent{Of(float64(s.RTT) / 1000), Of(float64(s.Jitter) / 1000), Of(float64(s.Loss) / 10_000), Of(s.Stalls)}
	}
	r.TickUs = TickUs{P50: quantile(&o.TickTime, 500), P99: quantile(&o.TickTime, 990), Max: largest(&o.TickTime)}
	r.verdict(&o.Stats)
	if o.Suspended {
		r.Quality.RankedEligible = Of(false)
	}
}

func (r *Report) session(s *rollback.Stats) {
	x := &s.Session
	r.Rollbacks, r.ResimulatedFrames, r.StoppedEarly = Of(x.Rollbacks), Of(x.Resimulated), Of(x.StoppedEarly)
	r.Stalls, r.LongestStall, r.FrozenFrames = Of(x.Stalls), Of(int64(x.LongestStall)), Of(x.Frozen)
	r.Depth = Depth{Mean: mean(&x.Depth), P50: quantile(&x.Depth, 500), P99: quantile(&x.Depth, 990), Max: largest(&x.Depth)}
	y := &s.Sync
	r.Sync = Sync{WaitFrames: Of(y.WaitFrames), MeanOffsetUs: mean(&y.Offset), P99OffsetUs: quantile(&y.Offset, 990)}
	if y.RateMax > 0 {
		r.Sync.RateMin, r.Sync.RateMax = Of(float64(y.RateMin)/1e9), Of(float64(y.RateMax)/1e9)
	}
}

func (r *Report) network(l *rollback.LinkStats, malformed int64) {
	if l.RTT.Count() > 0 {
		r.RTTMs = Quantiles{P50: Of(float64(l.RTT.Quantile(500)) / 1000), P99: Of(float64(l.RTT.Quantile(990)) / 1000)}
		r.JitterMs = Of(float64(l.Jitter) / 1000)
	}
	if l.Packets.Received > 0 {
		r.LossPct = Of(float64(l.LossMillionths) / 10_000)
	}
	p := &l.Packets
	r.Packets.Sent, r.Packets.Received, r.Packets.Lost = Of(p.Sent), Of(p.Received), Of(p.Lost)
	r.Packets.Duplicate, r.Packets.Stale = Of(p.Duplicate), Of(p.Stale)
	r.Packets.Malformed = Of(p.Malformed + p.Refused + malformed)
	r.InputsBytes = InputsBytes{Mean: mean(&l.InputBytes), P99: quantile(&l.InputBytes, 990)}
	r.FEC.ParitySent, r.FEC.Recovered, r.FEC.Unrecoverable = Of(l.Parity), Of(l.Recovered), Of(l.Unrecoverable)
	r.SecondDatagrams = Of(l.Second)
}

func (r *Report) verdict(s *rollback.Stats) {
	l := &s.Link
	r.Quality.Mode = Of(s.Mode.String())
	if l.RTT.Count() > 0 {
		sample := []quality.Sample{{RTT: l.RTT.MeanMilli() / 1000, Jitter: l.Jitter, Loss: l.LossMillionths, Rollback: int(s.Session.Depth.Quantile(500))}}
		v := quality.Handshake(sample, quality.DefaultLimits())
		r.Quality.Grade, r.Quality.RankedEligible = Of(v.Grade.String()), Of(v.RankedEligible)
		r.Quality.Reliability = Of(float64(quality.Reliability(sample)) / 10)
	}
	r.Fairness.OpponentStalls = Of(l.OpponentStalls)
	if l.OpponentHz > 0 {
		r.Fairness.RateHz = Of(float64(l.OpponentHz) / 1000)
	}
}

func mean(h *tally.Histogram) *float64 {
	if h.Count() == 0 {
		return nil
	}
	return Of(float64(h.MeanMilli()) / 1000)
}

func quantile(h *tally.Histogram, permille int64) *int64 {
	if h.Count() == 0 {
		return nil
	}
	return Of(h.Quantile(permille))
}

func largest(h *tally.Histogram) *int64 {
	if h.Count() == 0 {
		return nil
	}
	return Of(h.Max())
}
