package tally

import "testing"

func TestHistogram(t *testing.T) {
	h := New(10, 0)
	if h.MeanMilli() != 0 || h.Quantile(990) != 0 || h.Max() != 0 {
		t.Error("an empty histogram is not zero")
	}
	for v := range int64(100) {
		h.Add(v / 20)
	}
	if h.Count() != 100 || h.MeanMilli() != 2000 || h.Quantile(500) != 2 || h.Quantile(990) != 4 || h.Max() != 4 || h.Sum() != 200 {
		t.Errorf("count %d mean %d p50 %d p99 %d max %d", h.Count(), h.MeanMilli(), h.Quantile(500), h.Quantile(990), h.Max())
	}
	h.Add(-5)
	h.Add(1000)
	if h.Max() != 1000 || h.Quantile(1000) != 9 || h.Quantile(1) != 0 {
		t.Errorf("out of range: max %d p100 %d", h.Max(), h.Quantile(1000))
	}
	h.Reset()
	if h.Count() != 0 || h.Quantile(500) != 0 {
		t.Error("reset keeps values")
	}
	w := New(4, 8)
	w.Add(255)
	w.Add(256)
	if w.Quantile(500) != 0 || w.Quantile(1000) != 256 {
		t.Errorf("width: p50 %d p100 %d", w.Quantile(500), w.Quantile(1000))
	}
	if a := testing.AllocsPerRun(100, func() { w.Add(3) }); a != 0 {
		t.Errorf("Add allocates %v times", a)
	}
}
