package rollback

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"backstep/fec"
	"backstep/rollback/wire"
)

var errSection = errors.New("section refused")

// recorder fills every packet with its tag and remembers what it is told.
type recorder struct {
	tag       uint32
	size      int // of the sections filled in, 0 for none
	delivered []uint32
	lost      []uint32
	received  []uint32
	refuse    func(tag uint32) bool
	quiet     bool // remembers nothing
	zeros     [MaxSection]byte
	times     int64
}

func (r *recorder) Fill(b []byte, room int, _ int64) ([]byte, uint32) {
	if r.size == 0 {
		return b, 0
	}
	r.tag++
	n := len(b)
	b = append(b, r.zeros[:min(max(r.size, 4), room)]...)
	binary.LittleEndian.PutUint32(b[n:], r.tag)
	return b, r.tag
}

func (r *recorder) Delivered(tag uint32, now int64) {
	r.times = now
	if !r.quiet {
		r.delivered = append(r.delivered, tag)
	}
}

func (r *recorder) Lost(tag uint32) { r.lost = append(r.lost, tag) }

func (r *recorder) Check(b []byte) error {
	if r.refuse != nil && r.refuse(binary.LittleEndian.Uint32(b)) {
		return errSection
	}
	return nil
}

func (r *recorder) Receive(b []byte, _ int64) {
	if !r.quiet {
		r.received = append(r.received, binary.LittleEndian.Uint32(b))
	}
}

// pairWith makes two drivers whose sections are a and b.
func pairWith(tb testing.TB, a, b *recorder) (d [2]*Driver[large, uint32]) {
	for i, r := range []*recorder{a, b} {
		cfg := DefaultConfig()
		cfg.Local = i
		var err error
		if d[i], err = NewDriver(largeGame{}, cfg, new(large), 0); err != nil {
			tb.Fatal(err)
		}
		if r != nil {
			d[i].SetSections(r)
		}
	}
	return d
}

// exchange plays ticks; lost says whether packet n of a player is lost.
func exchange(d [2]*Driver[large, uint32], from, to int, lost func(player, n int) bool) (errs [2][]error) {
	var b [2][wire.MaxPacket]byte
	for n := from; n < to; n++ {
		now := int64(n+1) * 16_667
		var pkt [2][]byte
		for p := range d {
			d[p].Tick(now, 0)
			pkt[p] = d[p].AppendPacket(b[p][:0], now)
		}
		for p := range d {
			if !lost(p, n) {
				if err := d[1-p].Receive(now+8000, pkt[p]); err != nil {
					errs[1-p] = append(errs[1-p], err)
				}
			}
		}
	}
	return errs
}

func numbers(from, to uint32, but ...uint32) (all []uint32) {
	for ; from < to; from++ {
		if !slices.Contains(but, from) {
			all = append(all, from)
		}
	}
	return all
}

// WIRE-16: a section rides beside the inputs, and its owner learns what became of it.
func TestSectionsAreReportedOn(t *testing.T) {
	a, b := &recorder{size: 40}, &recorder{}
	d := pairWith(t, a, b)
	exchange(d, 0, 30, func(p, n int) bool { return p == 0 && (n == 4 || n == 9) })
	if want := numbers(1, 31, 5, 10); !slices.Equal(b.received, want) {
		t.Errorf("received %v, want %v", b.received, want)
	}
	// The acknowledgement of the last packets is in the packet that is made beside them.
	if want := numbers(1, 30, 5, 10); !slices.Equal(a.delivered, want) {
		t.Errorf("delivered %v, want %v", a.delivered, want)
	}
	if want := []uint32{5, 10}; !slices.Equal(a.lost, want) {
		t.Errorf("lost %v, want %v", a.lost, want)
	}
	if a.times != 30*16_667+8000 {
		t.Errorf("the last was delivered at %d", a.times)
	}
	if d[0].Confirmed() != 29 || d[1].Confirmed() != 29 {
		t.Errorf("confirmed %d and %d", d[0].Confirmed(), d[1].Confirmed())
	}
}

// A section of the greatest length beside the inputs of a long silence is still one packet.
func TestTheLongestSectionFits(t *testing.T) {
	a := &recorder{size: 1 << 20}
	d := pairWith(t, a, &recorder{})
	exchange(d, 0, 100, func(p, n int) bool { return true })
	var p wire.Packet
	pkt := d[0].AppendPacket(nil, 2_000_000)
	if err := wire.ParseCompact(pkt, &p, wire.Ref{Frame: -1}); err != nil || len(p.Message) != MaxSection || p.Count == 0 {
		t.Errorf("%d bytes, message %d, %d words: %v", len(pkt), len(p.Message), p.Count, err)
	}
}

// Nothing is acknowledged that is not taken (lidgren#62): a refused section takes its packet along, inputs and all, and
// the next packet brings the inputs again.
func TestRefusedSectionIsNotAcknowledged(t *testing.T) {
	a, b := &recorder{size: 8}, &recorder{refuse: func(tag uint32) bool { return tag == 7 }}
	d := pairWith(t, a, b)
	errs := exchange(d, 0, 20, func(int, int) bool { return false })
	if len(errs[0]) != 0 || len(errs[1]) != 1 || !errors.Is(errs[1][0], errSection) {
		t.Errorf("%v", errs)
	}
	if want := []uint32{7}; !slices.Equal(a.lost, want) || slices.Contains(b.received, 7) {
		t.Errorf("lost %v received %v", a.lost, b.received)
	}
	if st := d[1].Stats().Link.Packets; st.Refused != 1 || st.Malformed != 0 {
		t.Errorf("%+v", st)
	}
	if d[1].Confirmed() != 19 {
		t.Errorf("confirmed %d", d[1].Confirmed())
	}
}

// A packet that comes twice hands its section over once; one whose owner is nobody is played all the same.
func TestSectionsComeOnce(t *testing.T) {
	a, b := &recorder{size: 8}, &recorder{}
	d := pairWith(t, a, b)
	d[0].Tick(1000, 0)
	pkt := d[0].AppendPacket(nil, 1000)
	for range 3 {
		if err := d[1].Receive(2000, pkt); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(b.received, []uint32{1}) {
		t.Errorf("received %v", b.received)
	}
	d = pairWith(t, &recorder{size: 8}, nil)
	if errs := exchange(d, 0, 10, func(int, int) bool { return false }); len(errs[0])+len(errs[1]) != 0 {
		t.Errorf("%v", errs)
	}
	if d[1].Confirmed() != 9 {
		t.Errorf("confirmed %d", d[1].Confirmed())
	}
	d[0].SetSections(nil)
	if errs := exchange(d, 10, 20, func(int, int) bool { return false }); len(errs[1]) != 0 || d[1].Confirmed() != 19 {
		t.Errorf("%v, confirmed %d", errs, d[1].Confirmed())
	}
}

// A packet that parity brings back brings its section back.
func TestSectionsAreRebuilt(t *testing.T) {
	a, b := &recorder{size: 200}, &recorder{}
	d := pairWith(t, a, b)
	for i := range d {
		d[i].Link(1 - i).controller.Mode = fec.XOR
		d[i].Link(1 - i).planParity()
	}
	var buf [2][wire.MaxPacket]byte
	for n := range 40 {
		now := int64(n+1) * 16_667
		for p := range d {
			d[p].Tick(now, 0)
			pkt := d[p].AppendPacket(buf[p][:0], now)
			if p == 0 && n%4 == 2 {
				pkt = nil
			}
			for ok := true; ok; pkt, ok = d[p].AppendParity(buf[p][:0], now) {
				if len(pkt) > 0 {
					if err := d[1-p].Receive(now+1000, pkt); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	slices.Sort(b.received)
	if want := numbers(1, 41); !slices.Equal(b.received, want) || len(a.lost) != 0 {
		t.Errorf("received %v, lost %v", b.received, a.lost)
	}
	if st := d[1].Stats().Link; st.Recovered != 10 {
		t.Errorf("%d packets rebuilt", st.Recovered)
	}
}

func TestSectionsDoNotAllocate(t *testing.T) {
	d := pairWith(t, &recorder{size: 300, quiet: true}, &recorder{size: 30, quiet: true})
	n := 0
	var b [2][wire.MaxPacket]byte
	if got := testing.AllocsPerRun(1000, func() {
		now := int64(n+1) * 16_667
		for p := range d {
			d[p].Tick(now, 0)
			pkt := d[p].AppendPacket(b[p][:0], now)
			if err := d[1-p].Receive(now, pkt); err != nil {
				t.Fatal(err)
			}
		}
		n++
	}); got != 0 {
		t.Errorf("%v allocations a tick", got)
	}
}

// Packets with the longest section and words of noise that nobody acknowledges still fit into a group, and a parity packet
// over them into a datagram: it is as long as the longest packet it protects and its own header.
func TestParityOfTheLongestPacketsFits(t *testing.T) {
	a, b := &recorder{size: 1 << 20}, &recorder{}
	d := pairWith(t, a, b)
	d[0].Link(1).controller.Mode = fec.XOR
	d[0].Link(1).planParity()
	var buf [wire.MaxPacket]byte
	longest, parity, word := 0, 0, uint32(1)
	var lost []byte
	for n := range 300 {
		now := int64(n+1) * 16_667
		word = word*1664525 + 1013904223
		d[0].Tick(now, word)
		d[1].Tick(now, 0)
		if n < 200 { // without acknowledgements the window fills up
			_ = d[0].Receive(now, d[1].AppendPacket(buf[:0], now))
			pkt := d[0].AppendPacket(buf[:0], now)
			longest = max(longest, len(pkt))
			for ok := true; ok; pkt, ok = d[0].AppendParity(buf[:0], now) {
				parity = max(parity, len(pkt))
				lost = append(lost[:0], pkt...)
			}
			if n == 199 && d[0].Link(1).encoder.Stats().Packets < 200 {
				t.Errorf("only %d packets were protected", d[0].Link(1).encoder.Stats().Packets)
			}
		}
	}
	if longest < MaxSection || longest > fec.MaxPacket || parity < longest || parity > wire.MaxPacket {
		t.Errorf("packets of up to %d bytes, parity of up to %d", longest, parity)
	}
	var p wire.Packet
	if err := wire.ParseCompact(lost, &p, wire.Ref{Frame: -1}); err != nil || !p.IsParity() {
		t.Errorf("the longest parity packet does not parse: %v", err)
	}
	// Whatever the window: all inputs a packet can hold, the longest section, and a header that is shorter than this.
	const header = 64
	if MaxSection+wire.MaxInputs+header > fec.MaxPacket || fec.MaxParityPayload+header/2 > wire.MaxPacket {
		t.Error("the bounds of sections, inputs, groups and datagrams do not fit")
	}
}
