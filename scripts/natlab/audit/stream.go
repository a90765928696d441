package audit

import (
	"net/netip"
	"slices"

	"backstep/scripts/natlab/wiretap"
)

// stream is one direction of a TCP connection.
type stream struct {
	src, dst netip.AddrPort
	bytes    []byte
	headless bool   // its beginning is not in the capture
	wrong    string // why it is not whole
}

// streams puts the segments of a capture in order. Repeated segments count once; their order of arrival does not matter.
func streams(packets []wiretap.Packet) []*stream {
	type segment struct {
		at uint32 // from the first byte of the stream
		b  []byte
	}
	type flow struct {
		src, dst netip.AddrPort
	}
	first := make(map[flow]uint32)
	segments := make(map[flow][]segment)
	var order []flow
	for i := range packets {
		p := &packets[i]
		if p.Protocol != wiretap.TCP {
			continue
		}
		f := flow{p.Src, p.Dst}
		if _, known := segments[f]; !known {
			order = append(order, f)
			segments[f] = nil
		}
		if p.SYN {
			first[f] = p.Seq + 1
		} else if len(p.Payload) > 0 {
			segments[f] = append(segments[f], segment{p.Seq, p.Payload})
		}
	}
	var out []*stream
	for _, f := range order {
		s := &stream{src: f.src, dst: f.dst}
		out = append(out, s)
		start, known := first[f]
		all := segments[f]
		if !known && len(all) > 0 {
			s.headless = true
			start = all[0].at
			for _, g := range all {
				if int32(g.at-start) < 0 {
					start = g.at
				}
			}
		}
		for i := range all {
			all[i].at -= start
		}
		slices.SortStableFunc(all, func(x, y segment) int { return int(int32(x.at - y.at)) })
		for _, g := range all {
			switch have := int64(len(s.bytes)); {
			case int64(int32(g.at)) > have:
				s.wrong = "the capture has a hole"
			case int64(int32(g.at))+int64(len(g.b)) > have:
				s.bytes = append(s.bytes, g.b[have-int64(int32(g.at)):]...)
			}
		}
	}
	return out
}
