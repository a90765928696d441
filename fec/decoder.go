package fec

import (
	"encoding/binary"
	"math/bits"
)

const (
	// Window is how many groups the decoder keeps. With groups of four that is
	// twice the 33 packets an acknowledgement reaches back.
	Window = 16

	// resyncAfter stale packets without a good one between them mean that the
	// numbering moved, and the decoder starts over from what it gets.
	resyncAfter = 32
)

// Rebuilt is a packet rebuilt from parity.
type Rebuilt struct {
	Group  uint16
	Index  uint8
	Packet []byte // owned by the decoder, valid until its next call
}

// DecoderStats are the counts of a [Decoder] since its start, in packets.
type DecoderStats struct {
	Packets       uint64 // data packets accepted
	Parity        uint64 // parity packets accepted
	Recovered     uint64 // data packets rebuilt
	Unrecoverable uint64 // data packets known to be missing when their group was given up
	Wasted        uint64 // parity packets that were not needed
	Duplicate     uint64 // packets, data or parity, that came again
	Late          uint64 // data packets that arrived after they had been rebuilt
	Stale         uint64 // packets of groups that are gone
	Malformed     uint64 // packets whose parameters are impossible or contradict their group
	Resyncs       uint64 // times the numbering moved
}

// Decoder rebuilds lost packets of a stream made by an [Encoder]. The zero value
// is ready. Its memory is fixed, about 80 KB; nothing allocates. Everything it is
// told may be hostile: impossible or contradictory parameters are counted and
// dropped.
//
// It keeps sums, not packets: each packet is added to its group's rows, and the
// rows of a group with as many parity packets as missing packets are solved.
type Decoder struct {
	groups  [Window]incoming
	newest  uint16
	began   bool
	rows    int // parity rows kept per group: as many as any parity packet announced
	stale   int // stale packets in a row
	staging [sumLen]byte
	rebuilt [MaxParity]Rebuilt
	stats   DecoderStats
}

type incoming struct {
	incomingState
	sums sums
}

type incomingState struct {
	used    bool
	done    bool // nothing is left to rebuild
	refused bool // it contradicted itself; done too
	id      uint16
	planned uint8  // size by its data packets, 0 unknown
	size    uint8  // size by its parity packets, 0 unknown
	coded   uint8  // parity packets there are, 0 unknown
	rows    uint8  // rows that hold every data packet of have
	sumLen  uint16 // length of the sums by its parity packets
	have    uint16 // data packets that arrived or were rebuilt
	made    uint16 // the part of have that was rebuilt and did not arrive since
	parity  uint8  // parity rows that arrived
}

// AddData records that the data packet pkt arrived with place g in its header.
// pkt is not kept. It returns the packets this made it possible to rebuild;
// they must not be added again. The result is valid until the next call.
func (d *Decoder) AddData(g Group, pkt []byte) []Rebuilt {
	if g.Size == 0 || g.Size > MaxGroup || g.Index >= g.Size || len(pkt) == 0 || len(pkt) > MaxPacket {
		d.stats.Malformed++
		return nil
	}
	in := d.find(g.ID)
	if in == nil {
		return nil
	}
	bit := uint16(1) << g.Index
	switch {
	case in.planned != 0 && in.planned != g.Size,
		in.size != 0 && (g.Index >= in.size || in.size > g.Size),
		in.parity != 0 && lengthLen+len(pkt) > int(in.sumLen):
		d.refuse(in)
		return nil
	case in.made&bit != 0:
		in.made &^= bit
		d.stats.Late++
		return nil
	case in.have&bit != 0:
		d.stats.Duplicate++
		return nil
	}
	in.planned = g.Size
	in.have |= bit
	d.stats.Packets++
	in.sums.add(int(g.Index), int(in.rows), pkt, &d.staging)
	return d.solve(in)
}

// AddParity records that a parity packet arrived with place g in its header and
// the given payload, which is not kept. The result is as of AddData.
func (d *Decoder) AddParity(g Group, payload []byte) []Rebuilt {
	if len(payload) < 1+lengthLen+1 || len(payload) > MaxParityPayload ||
		g.Size == 0 || g.Size > MaxGroup || payload[0] == 0 || payload[0] > MaxParity ||
		g.Index < g.Size || g.Index-g.Size >= payload[0] {
		d.stats.Malformed++
		return nil
	}
	coded, sum, row := payload[0], payload[1:], g.Index-g.Size
	d.rows = max(d.rows, int(coded))
	in := d.find(g.ID)
	if in == nil {
		return nil
	}
	if in.planned != 0 && in.planned < g.Size ||
		in.size != 0 && (in.size != g.Size || in.coded != coded || int(in.sumLen) != len(sum)) ||
		in.have>>g.Size != 0 || len(sum) < in.sums.longest {
		d.refuse(in)
		return nil
	}
	if in.parity>>row&1 != 0 {
		d.stats.Duplicate++
		return nil
	}
	in.size, in.coded, in.sumLen = g.Size, coded, uint16(len(sum))
	in.parity |= 1 << row
	d.stats.Parity++
	if in.done {
		d.stats.Wasted++
		return nil
	}
	if row < in.rows {
		xor(in.sums.row[row][:len(sum)], sum)
		in.sums.longest = len(sum)
	}
	return d.solve(in)
}

// find returns the group with the given id, making room for it if it is new, or
// nil if it is gone or has been refused.
func (d *Decoder) find(id uint16) *incoming {
	if !d.began {
		d.began = true
		d.rows = max(d.rows, 1)
		d.newest = id
	}
	ahead := int(int16(id - d.newest))
	if ahead <= -Window {
		d.stats.Stale++
		d.stale++
		if d.stale < resyncAfter {
			return nil
		}
		d.stats.Resyncs++
		d.Flush()
		d.newest, ahead = id, 0
	}
	d.stale = 0
	for i := range min(ahead, Window) {
		d.giveUp(&d.groups[(id-uint16(i))%Window])
	}
	if ahead > 0 {
		d.newest = id
	}
	in := &d.groups[id%Window]
	if !in.used {
		in.used, in.id, in.rows = true, id, uint8(d.rows)
	}
	if in.refused {
		d.stats.Malformed++
		return nil
	}
	return in
}

// refuse gives a group up that contradicts itself: which of its packets lied is
// unknown, so nothing is rebuilt from any of them.
func (d *Decoder) refuse(in *incoming) {
	d.stats.Malformed++
	in.refused, in.done = true, true
}

// giveUp empties a place of the ring and counts what was still missing.
func (d *Decoder) giveUp(in *incoming) {
	if !in.used {
		return
	}
	if !in.done {
		known := int(in.size)
		if known == 0 {
			known = bits.Len16(in.have)
		}
		d.stats.Unrecoverable += uint64(known - bits.OnesCount16(in.have))
	}
	in.sums.reset(int(in.rows))
	in.incomingState = incomingState{}
}

// Flush gives up all groups and counts what was missing in them, for the figures
// at the end of a stream. The stream may go on.
func (d *Decoder) Flush() {
	for i := range d.groups {
		d.giveUp(&d.groups[i])
	}
}

// Stats returns the counts so far. Groups still open count at Flush.
func (d *Decoder) Stats() DecoderStats { return d.stats }

func (d *Decoder) solve(in *incoming) []Rebuilt {
	if in.size == 0 {
		return nil
	}
	arrived := bits.OnesCount8(in.parity)
	missing := (uint16(1)<<in.size - 1) &^ in.have
	count := bits.OnesCount16(missing)
	if count == 0 {
		in.done = true
		d.stats.Wasted += uint64(arrived)
		return nil
	}
	usable := in.parity & (1<<in.rows - 1)
	if bits.OnesCount8(usable) < count {
		return nil
	}
	out := d.rebuilt[:count]
	var rows [MaxParity][]byte
	var factors [MaxParity][MaxParity]byte
	for k := range count {
		row := bits.TrailingZeros8(usable)
		usable &= usable - 1
		rows[k] = in.sums.row[row][:in.sumLen]
		for j, m := 0, missing; j < count; j, m = j+1, m&(m-1) {
			factors[k][j] = coefficients[row][bits.TrailingZeros16(m)]
		}
	}
	eliminate(rows[:count], &factors)
	for k, m := 0, missing; k < count; k, m = k+1, m&(m-1) {
		pkt, ok := unpad(rows[k])
		if !ok {
			d.refuse(in)
			return nil
		}
		out[k] = Rebuilt{Group: in.id, Index: uint8(bits.TrailingZeros16(m)), Packet: pkt}
	}
	in.done = true
	in.have |= missing
	in.made = missing
	d.stats.Recovered += uint64(count)
	d.stats.Wasted += uint64(arrived - count)
	return out
}

// unpad takes a packet out of its padded form, if that is what the encoder makes.
func unpad(sum []byte) ([]byte, bool) {
	n := int(binary.LittleEndian.Uint16(sum))
	if n == 0 || lengthLen+n > len(sum) {
		return nil, false
	}
	for _, b := range sum[lengthLen+n:] {
		if b != 0 {
			return nil, false
		}
	}
	return sum[lengthLen : lengthLen+n : lengthLen+n], true
}
