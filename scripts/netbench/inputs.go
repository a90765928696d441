package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"backstep/peer/source"
	"backstep/rollback"
	"backstep/rollback/input"
	"backstep/sim"
)

// Targets for an eight-frame window of recorded play, in bytes.
const (
	windowFrames = 8
	windowMean   = 3.0
	windowP99    = 9
)

// fighting is the game that ships, so that what it says of inputs that make no difference counts.
type fighting struct{}

func (fighting) Step(w *sim.World, in []rollback.Input[uint16], p rollback.Policy) {
	words := [2]sim.Input{sim.Input(in[0]), sim.Input(in[1])}
	w.Step(words[:], sim.Policy(p))
}

func (fighting) Hash(w *sim.World) uint64 { return w.Hash() }

func (fighting) Equal(a, b *sim.World) bool { return a.Equal(b) }

func (fighting) Equivalent(w *sim.World, player int, old, new rollback.Input[uint16]) bool {
	return w.Equivalent(player, sim.Input(old), sim.Input(new))
}

// played is what one recording comes to: both players' figures together.
type played struct {
	Trace      string  `json:"trace"`
	Frames     int64   `json:"frames"`
	Changes    float64 `json:"changes_per_second"` // of one player's word
	Rollbacks  float64 `json:"rollbacks_per_second"`
	Looked     int64   `json:"frames_rolled_back"` // what stepping every frame again would cost
	Stepped    int64   `json:"frames_resimulated"` // what was stepped, the others were skipped
	WindowMean float64 `json:"window8_bytes_mean"`
	WindowP99  int     `json:"window8_bytes_p99"`
	WindowMax  int     `json:"window8_bytes_max"`
	WireMean   float64 `json:"packet_bytes_mean"` // inputs in the packets that were sent
	WireP99    int64   `json:"packet_bytes_p99"`
	Mismatches int     `json:"mismatches"`
}

func (p played) missed() bool {
	return p.WindowMean > windowMean || p.WindowP99 > windowP99 || p.Mismatches > 0
}

// inputs plays every recording of a folder over a link of the model and prints a JSON line and a row for each.
func inputs(w io.Writer, folder string, x scenario, seed uint64) (missed int, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.csv.gz"))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no *.csv.gz in %s", folder)
	}
	var all []played
	for _, f := range files {
		p, err := playTrace(f, x, seed)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, p)
		if err := json.NewEncoder(w).Encode(p); err != nil {
			return 0, err
		}
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "recording\tframes\tchanges/s\trollbacks/s\trolled back\tresimulated\tskipped\t8 frames mean\tp99\tmax\tpacket mean\tp99\ttarget")
	for _, p := range all {
		verdict := "met"
		if p.missed() {
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%d\t%d\t%.0f %%\t%.2f\t%d\t%d\t%.2f\t%d\t%s\n", p.Trace, p.Frames, p.Changes, p.Rollbacks, p.Looked, p.Stepped,
			100*float64(p.Looked-p.Stepped)/float64(max(p.Looked, 1)), p.WindowMean, p.WindowP99, p.WindowMax, p.WireMean, p.WireP99, verdict)
	}
	return missed, t.Flush()
}

func playTrace(path string, x scenario, seed uint64) (p played, err error) {
	var words [2][]uint16
	for i, column := range []string{"w1", "w2"} {
		tr, err := source.ReadTrace(path, column)
		if err != nil {
			return p, err
		}
		for f := range tr.Len() {
			words[i] = append(words[i], tr.Next(int32(f), nil))
		}
	}
	p.Trace = strings.TrimSuffix(filepath.Base(path), ".csv.gz")
	p.window(words)
	m, err := newDuel(words, x, seed)
	if err != nil {
		return p, err
	}
	m.run(int64(len(words[0])) * second / 60)
	var bytes, packets float64
	for _, d := range m.d {
		st := d.Stats()
		p.Frames += st.Session.Frames
		p.Rollbacks += float64(st.Session.Rollbacks)
		p.Looked += st.Session.Depth.MeanMilli() * st.Session.Depth.Count() / 1000
		p.Stepped += st.Session.Resimulated
		b := st.Link.InputBytes
		bytes += float64(b.MeanMilli()) / 1000 * float64(b.Count())
		packets += float64(b.Count())
		p.WireP99 = max(p.WireP99, b.Quantile(990))
	}
	p.Rollbacks /= float64(p.Frames) / 60
	p.WireMean = bytes / packets
	p.Mismatches = m.mismatches()
	return p, nil
}

// window codes every window of eight frames of both players against the word before it.
func (p *played) window(words [2][]uint16) {
	var sizes []int
	changes, frames, sum := 0, 0, 0
	for _, w := range words {
		for f := range w {
			if f > 0 && w[f] != w[f-1] {
				changes++
			}
			if f >= windowFrames {
				n := len(input.AppendRun(nil, w[f-windowFrames], w[f-windowFrames+1:f+1]))
				sizes, sum = append(sizes, n), sum+n
			}
		}
		frames += len(w)
	}
	slices.Sort(sizes)
	p.Changes = float64(changes) * 60 / float64(frames)
	p.WindowMean = float64(sum) / float64(len(sizes))
	p.WindowP99, p.WindowMax = sizes[len(sizes)*99/100], sizes[len(sizes)-1]
}

// duelists are two drivers that play recorded words.
type duelists struct {
	d      [2]*rollback.Driver[sim.World, uint16]
	nets   [2]*link
	words  [2][]uint16
	hashes [2][]uint64
	buf    []byte
}

func newDuel(words [2][]uint16, x scenario, seed uint64) (*duelists, error) {
	w := new(sim.World)
	c := sim.DefaultConfig()
	c.Rounds = 5 // so that few frames of the recording are played to the credits
	c.Seed = seed
	if err := w.Reset(c); err != nil {
		return nil, err
	}
	m := &duelists{words: words, nets: [2]*link{newLink(x, 0, seed), newLink(x, 0, seed+1000)}}
	for i := range m.d {
		cfg := rollback.DefaultConfig()
		cfg.Local = i
		d, err := rollback.NewDriver(fighting{}, cfg, w, beginning+int64(i)*int64(x.off*1000))
		if err != nil {
			return nil, err
		}
		m.d[i] = d
	}
	return m, nil
}

// run plays so many µs.
func (m *duelists) run(length int64) {
	for end := beginning + length; ; {
		who, second := 0, false
		due := end
		for i, d := range m.d {
			if d.Next() < due {
				who, due, second = i, d.Next(), false
			}
			if at, ok := d.SecondAt(); ok && at < due {
				who, due, second = i, at, true
			}
		}
		if due >= end {
			return
		}
		d := m.d[who]
		if second {
			m.buf = d.AppendSecond(m.buf[:0], due)
			m.nets[who].send(due, m.buf)
			continue
		}
		// What arrives was made by this program.
		_ = m.nets[1-who].Deliver(due, d.Receive)
		s := d.Session()
		d.Tick(due, m.words[who][int(s.InputFrame())%len(m.words[who])])
		for f := int32(len(m.hashes[who])); f <= s.Settled(); f++ {
			w, ok := d.State(f)
			if !ok {
				break
			}
			m.hashes[who] = append(m.hashes[who], w.Hash())
		}
		m.buf = d.AppendPacket(m.buf[:0], due)
		m.nets[who].send(due, m.buf)
	}
}

func (m *duelists) mismatches() (n int) {
	a, b := m.hashes[0], m.hashes[1]
	for f := range min(len(a), len(b)) {
		if a[f] != b[f] {
			n++
		}
	}
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	return n
}
