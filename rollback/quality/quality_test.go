package quality

import "testing"

func one(rtt, jitter, loss int64, rollback int) []Sample {
	return []Sample{{RTT: rtt, Jitter: jitter, Loss: loss, Rollback: rollback}}
}

// V-11, QUAL-01, QUAL-02, QUAL-03, QUAL-04, QUAL-05, QUAL-06.
func TestGradeEdges(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []Sample
		grade   Grade
		mode    Mode
		ranked  bool
	}{
		{"RTT 150.0", one(150_000, 0, 0, 0), Borderline, Hybrid, true},
		{"RTT 150.1", one(150_100, 0, 0, 0), Poor, Delay, false},
		{"RTT 100.0", one(100_000, 0, 0, 0), Good, Rollback, true},
		{"RTT 100.1", one(100_100, 0, 0, 0), Borderline, Hybrid, true},
		{"loss 8", one(0, 0, 8*Percent, 0), Poor, Delay, false},
		{"loss just below 8", one(0, 0, 8*Percent-1, 0), Borderline, Hybrid, true},
		{"loss 4", one(0, 0, 4*Percent, 0), Borderline, Hybrid, true},
		{"loss just below 4", one(0, 0, 4*Percent-1, 0), Good, Rollback, true},
		{"jitter 18", one(0, 18_000, 0, 0), Good, Rollback, true},
		{"jitter 18.1", one(0, 18_100, 0, 0), Borderline, Hybrid, true},
		{"no samples", nil, Poor, Delay, false},
		{"poor before borderline", one(151_000, 19_000, 5*Percent, 0), Poor, Delay, false},
		{"means of RTT and loss", []Sample{{RTT: 190_000, Loss: 6 * Percent}, {RTT: 10_000, Loss: Percent}}, Good, Rollback, true},
		{"largest jitter", []Sample{{Jitter: 19_000}, {}, {}}, Borderline, Hybrid, true},
		{"a mean not rounded to the edge", []Sample{{RTT: 150_000}, {RTT: 150_001}}, Poor, Delay, false},
	} {
		v := Handshake(c.samples, Limits{})
		if v.Grade != c.grade || v.Mode != c.mode || v.RankedEligible != c.ranked {
			t.Errorf("%s: %v %v ranked %v, want %v %v %v", c.name, v.Grade, v.Mode, v.RankedEligible, c.grade, c.mode, c.ranked)
		}
	}
}

// RCFG-09, RCFG-10, RCFG-11, RCFG-16: the edges move with the configuration.
func TestGradeLimits(t *testing.T) {
	l := Limits{HybridRTT: 60_000, DelayRTT: 90_000, PoorLoss: 5 * Percent}
	for _, c := range []struct {
		samples []Sample
		grade   Grade
	}{
		{one(60_000, 0, 0, 0), Good},
		{one(60_001, 0, 0, 0), Borderline},
		{one(90_001, 0, 0, 0), Poor},
		{one(0, 0, 5*Percent, 0), Poor},
	} {
		if g := Handshake(c.samples, l).Grade; g != c.grade {
			t.Errorf("%+v: %v, want %v", c.samples[0], g, c.grade)
		}
	}
}

// QUAL-07: a hint, never a bar.
func TestWiredHint(t *testing.T) {
	for m, want := range map[Medium]bool{Unknown: false, Wired: false, WiFi: true, Mobile: true} {
		v := Handshake([]Sample{{Medium: Wired}, {Medium: m}}, Limits{})
		if v.WiredHint != want || v.Grade != Good || !v.RankedEligible {
			t.Errorf("medium %d: hint %v grade %v", m, v.WiredHint, v.Grade)
		}
	}
}

// S-07: the worse grade counts, whoever measured it.
func TestAgree(t *testing.T) {
	good, poor := Handshake(one(20_000, 0, 0, 0), Limits{}), Handshake(one(200_000, 0, 0, 0), Limits{})
	for _, v := range []Verdict{Agree(good, poor), Agree(poor, good)} {
		if v.Grade != Poor || v.Mode != Delay || v.RankedEligible || v.RTT != 200_000 {
			t.Errorf("agreed on %+v", v)
		}
	}
}

// V-07 to V-10, QUAL-15, in tenths.
func TestReliability(t *testing.T) {
	a, b := one(80_000, 8_000, Percent, 3), one(200_000, 40_000, 10*Percent, 9)
	for _, c := range []struct {
		name    string
		samples []Sample
		want    int
	}{
		{"V-07", a, 810},
		{"V-08", b, 0},
		{"V-09", append(append([]Sample{}, a...), b...), 405},
		{"V-10 perfect", one(0, 0, 0, 0), 1000},
		{"V-10 clamps", one(400_000, 40_000, 10*Percent, 9), 0},
		{"rollback of 8 is free", one(0, 0, 0, 8), 1000},
		{"rollback of 9 costs ten", one(0, 0, 0, 9), 900},
		{"half up", one(400, 0, 0, 0), 1000},
		{"below half", one(401, 0, 0, 0), 999},
		{"nothing measured", nil, 0},
	} {
		if got := Reliability(c.samples); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// QUAL-17, QUAL-18.
func TestStamp(t *testing.T) {
	s := NewStamp(one(80_000, 8_000, Percent, 3), Limits{})
	if s != (Stamp{"Ops.NetworkHealth.V2", 80_000, 8_000, Percent, Good, 810}) {
		t.Errorf("stamp %+v", s)
	}
}

// QUAL-09, QUAL-10, SESS-37, V-02: 1799 do not, 1800 do, once; one sample at the cap starts anew.
func TestLadderOffersOnce(t *testing.T) {
	var l Ladder
	feed := func(n, frames int) (offers int) {
		for range n {
			if l.Sample(frames, 8, 1800) {
				offers++
			}
		}
		return offers
	}
	if feed(1799, 9) != 0 || feed(1, 8) != 0 || feed(1799, 9) != 0 {
		t.Fatal("offered before 1800 samples in a row")
	}
	if l.Offer() != Playing {
		t.Fatal("offer stands too early")
	}
	if !l.Sample(9, 8, 1800) || l.Offer() != Offered {
		t.Fatal("no offer at 1800")
	}
	if feed(4000, 12) != 0 || feed(1, 0) != 0 || feed(4000, 12) != 0 {
		t.Error("offered a second time")
	}
}

// QUAL-08, QUAL-11, QUAL-12, QUAL-13 with the ruling that both sides' figures must agree.
func TestLadderAnswers(t *testing.T) {
	fresh := func() *Ladder {
		l := new(Ladder)
		l.Sample(9, 8, 1)
		return l
	}
	l := fresh()
	if l.Mode(Rollback) != Rollback {
		t.Error("downgraded silently")
	}
	if l.RankedSuspended() {
		t.Error("suspended on one side's word")
	}
	l.Opponent()
	if !l.RankedSuspended() || l.RankedNoContest() {
		t.Error("an offer both sides saw does not suspend")
	}
	if !l.Answer(false) || !l.RankedNoContest() || l.Mode(Rollback) != Rollback {
		t.Error("declined: want no contest and the mode kept")
	}
	if l.Answer(true) {
		t.Error("answered twice")
	}
	l = fresh()
	if !l.Answer(true) || l.Mode(Rollback) != Delay || l.RankedNoContest() {
		t.Error("accepted: want delay mode")
	}
	if new(Ladder).Answer(true) {
		t.Error("answered an offer that was never made")
	}
}
