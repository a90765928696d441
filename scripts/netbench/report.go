package main

// side is one peer's figures after the warm-up.
type side struct {
	Frames       int64   `json:"frames"`
	Ticks        int64   `json:"ticks"`
	Stalls       int64   `json:"stalls"`
	LongestStall int     `json:"longest_stall"`
	SyncWait     int64   `json:"sync_wait_frames"`
	Rollbacks    int64   `json:"rollbacks"`
	Resimulated  int64   `json:"resimulated"`
	StoppedEarly int64   `json:"stopped_early"`
	DepthMean    float64 `json:"depth_mean"`
	DepthP99     int64   `json:"depth_p99"`
	DepthMax     int64   `json:"depth_max"`

	OffsetMean float64 `json:"offset_mean_us"`
	OffsetP99  int64   `json:"offset_p99_us"`
	RateMin    float64 `json:"rate_min"`
	RateMax    float64 `json:"rate_max"`
	Malformed  int64   `json:"malformed"`
	Refused    int64   `json:"refused"`
	Second     int64   `json:"second_datagrams"`
	Desyncs    int64   `json:"desyncs"`
}

// flow is one direction's traffic after the warm-up, bytes a second.
type flow struct {
	Rate     float64 `json:"pps"`
	Payload  float64 `json:"payload_bps"`
	Wire     float64 `json:"wire_bps"`
	WireDTLS float64 `json:"wire_dtls_bps"`
}

type report struct {
	Scenario   string `json:"scenario"`
	Window     int    `json:"window"`
	Seed       uint64 `json:"seed"`
	A          side   `json:"a"`
	B          side   `json:"b"`
	AB         flow   `json:"ab"`
	BA         flow   `json:"ba"`
	Mismatches int    `json:"mismatches"`
}

// Bytes of IPv4 and UDP, and of a DTLS record, around every packet.
const (
	datagramHeader = 28
	recordHeader   = 29
)

func newReport(x scenario, window int, seed uint64, peers [2]*peer, nets [2]*link, seconds float64) report {
	r := report{Scenario: x.name, Window: window, Seed: seed}
	r.A, r.B = newSide(peers[0]), newSide(peers[1])
	r.AB, r.BA = newFlow(nets[0], seconds), newFlow(nets[1], seconds)
	a, b := peers[0].hashes, peers[1].hashes
	for i := range max(min(len(a), len(b))-tail, 0) {
		if a[i] != b[i] {
			r.Mismatches++
		}
	}
	return r
}

func newSide(p *peer) side {
	st := p.Stats()
	s, k := st.Session, st.Link
	return side{
		Frames: s.Frames, Ticks: s.Ticks, Stalls: s.Stalls, LongestStall: s.LongestStall, SyncWait: st.Sync.WaitFrames,
		Rollbacks: s.Rollbacks, Resimulated: s.Resimulated, StoppedEarly: s.StoppedEarly,
		DepthMean: float64(s.Depth.MeanMilli()) / 1000, DepthP99: s.Depth.Quantile(990), DepthMax: s.Depth.Max(),
		OffsetMean: float64(st.Sync.Offset.MeanMilli()) / 1000, OffsetP99: st.Sync.Offset.Quantile(990),
		RateMin: float64(st.Sync.RateMin) / 1e9, RateMax: float64(st.Sync.RateMax) / 1e9,
		Malformed: k.Packets.Malformed, Refused: k.Packets.Refused, Second: k.Second, Desyncs: s.Desyncs,
	}
}

func newFlow(l *link, seconds float64) flow {
	n, b := float64(l.counts.packets), float64(l.counts.bytes)
	return flow{
		Rate: n / seconds, Payload: b / seconds,
		Wire:     (b + datagramHeader*n) / seconds,
		WireDTLS: (b + (datagramHeader+recordHeader)*n) / seconds,
	}
}
