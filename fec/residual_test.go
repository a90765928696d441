package fec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// residual sends a stream of small packets over a link and returns the share that
// neither arrived nor was rebuilt. Bursts have a geometric length of mean burst;
// at burst 1 losses are independent.
func residual(p Params, loss, burst float64) float64 {
	const packets = 60_000
	rng := rand.New(rand.NewPCG(11, 12))
	bad := false
	lost := func() bool {
		switch {
		case burst <= 1:
			return rng.Float64() < loss
		case bad:
			bad = rng.Float64() >= 1/burst
		default:
			bad = rng.Float64() < loss/(1-loss)/burst
		}
		return bad
	}
	var e Encoder
	d := new(Decoder)
	e.Set(p)
	buf := make([]byte, 0, MaxParityPayload)
	pkt := make([]byte, small)
	missing := 0
	for range packets {
		g := e.Next()
		if err := e.Add(pkt); err != nil {
			panic(err)
		}
		if lost() {
			missing++
		} else {
			missing -= len(d.AddData(g, pkt))
		}
		e.Tick()
		for e.Pending() > 0 {
			b, g, _ := e.Parity(buf[:0])
			if !lost() {
				missing -= len(d.AddParity(g, b))
			}
		}
	}
	return float64(missing) / packets
}

// What is left of independent losses is what the arithmetic says: a packet stays
// lost if it is lost and more than m-1 of the other k+m-1 are too. The table of
// docs/fec.md is the log of this test.
func TestResidualLoss(t *testing.T) {
	for _, p := range []Params{{4, 1}, {4, 2}, {8, 1}} {
		for _, loss := range []float64{0.02, 0.05, 0.1, 0.2} {
			others := float64(p.Size + p.Parity - 1)
			enough := 0.0
			for j, c := 0, 1.0; j < p.Parity; j++ {
				enough += c * math.Pow(loss, float64(j)) * math.Pow(1-loss, others-float64(j))
				c = c * (others - float64(j)) / float64(j+1)
			}
			want := loss * (1 - enough)
			got := residual(p, loss, 1)
			if math.Abs(got-want) > 0.15*want+0.0005 {
				t.Errorf("%+v at %g: %.5f left, want %.5f", p, loss, got, want)
			}
			t.Logf("%d+%d, loss %4.1f %%: left %.2f %%, in bursts of 2 %.2f %%, of 4 %.2f %%, of 8 %.2f %%", p.Size, p.Parity, 100*loss,
				100*got, 100*residual(p, loss, 2), 100*residual(p, loss, 4), 100*residual(p, loss, 8))
		}
	}
}
