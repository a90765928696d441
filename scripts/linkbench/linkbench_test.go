package main

import (
	"io"
	"strings"
	"testing"
)

// What docs/fec.md concludes, on a short run: at 20 % loss a copy of each fourth packet brings inputs sooner than XOR
// parity of groups of four, a copy of each second one sooner than two parity packets, both for fewer bytes, and the link's own choice beats both where losses are random. FEC policy of the Transport table.
func TestCopiesBeatParity(t *testing.T) {
	got := map[string]inputReport{}
	for _, s := range strategies() {
		r, err := runInputs(network{name: "random 20 %", delay: oneWay, loss: 0.2}, s, 3, 60)
		if err != nil {
			t.Fatal(err)
		}
		got[s.name] = r
	}
	mean := func(name string) float64 { return got[name].Mean }
	if mean("copy of each 4th") > mean("xor") || got["copy of each 4th"].PerSecond >= got["xor"].PerSecond {
		t.Errorf("xor %+v, copy %+v", got["xor"], got["copy of each 4th"])
	}
	if mean("copy of each 2nd") > mean("rs") || got["copy of each 2nd"].PerSecond >= got["rs"].PerSecond {
		t.Errorf("rs %+v, copy %+v", got["rs"], got["copy of each 2nd"])
	}
	if got["auto"].P99 > 1+stretch || got["auto"].P999 > 2+stretch || got["auto"].Parity > 0 || got["auto"].Second == 0 {
		t.Errorf("auto %+v", got["auto"])
	}
	if got["xor"].Recovered == 0 || got["unacked"].Parity+got["unacked"].Second > 0 {
		t.Errorf("xor %+v, unacked %+v", got["xor"], got["unacked"])
	}
	again, err := runInputs(network{name: "random 20 %", delay: oneWay, loss: 0.2}, strategies()[0], 3, 60)
	if err != nil || again != got["unacked"] {
		t.Errorf("another run of the same seed: %+v, %v", again, err)
	}
}

// Lateness is counted from what the road does without loss.
func TestNothingIsLateWithoutLoss(t *testing.T) {
	r, err := runInputs(network{name: "clean", delay: oneWay}, strategies()[0], 3, 20)
	if err != nil {
		t.Fatal(err)
	}
	if r.Max != 0 || r.Stalls != 0 || r.Depth == 0 || r.PerSecond == 0 {
		t.Errorf("%+v", r)
	}
}

func TestMissedTargetsAreNamed(t *testing.T) {
	good := []inputReport{{Network: "random 10 %", Strategy: "auto", P99: 1, P999: 1.5, PerSecond: mostBytes}}
	if m := inputTable(io.Discard, good); len(m) > 0 {
		t.Error(m)
	}
	bad := []inputReport{
		{Network: "random 20 %", Strategy: "auto", P99: 1.5}, {Network: "random  0 %", Strategy: "auto", PerSecond: cleanBytes + 1},
		{Network: "random 20 %", Strategy: "xor", P99: 9},
	}
	if m := inputTable(io.Discard, bad); len(m) != 2 || !strings.Contains(m[1], "4401 B/s") {
		t.Error(m)
	}
	if m := blobTable(io.Discard, []blobReport{{KB: 64, Loss: 0.1, P50: 356}, {KB: 8, Loss: 0.1, P50: 999}}); len(m) != 1 {
		t.Error(m)
	}
}

func TestBlobs(t *testing.T) {
	r, err := runBlobs(16<<10, 0.1, 1, 40)
	if err != nil {
		t.Fatal(err)
	}
	if r.P50 < 75 || r.P50 >= r.PlainP50 || r.P99 >= r.PlainP99 || r.Bytes < 1 || r.PlainBytes < 1 {
		t.Errorf("%+v", r)
	}
}

func TestNetworks(t *testing.T) {
	all, err := networks("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 15 || all[14].trace == nil {
		t.Errorf("%d networks", len(all))
	}
	if _, err := networks(t.TempDir()); err == nil {
		t.Error("an empty folder is no folder of traces")
	}
}
