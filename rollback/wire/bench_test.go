package wire

import "testing"

func TestAllocations(t *testing.T) {
	p, ref := steady()
	b := make([]byte, 0, MaxPacket)
	bad := []byte{prefixCompact | prefixExtend, 0, 1, 2}
	var q Packet
	for name, f := range map[string]func(){
		"compact": func() {
			b = AppendCompact(b[:0], &p, ref)
			if err := ParseCompact(b, &q, ref); err != nil {
				t.Fatal(err)
			}
		},
		"full": func() {
			b = AppendFull(b[:0], &p)
			if err := ParseFull(b, &q); err != nil {
				t.Fatal(err)
			}
		},
		"refusals": func() {
			b = AppendFull(b[:0], &p)
			b[20]++
			if ParseCompact(bad, &q, ref) == nil || ParseFull(b, &q) == nil {
				t.Fatal("a damaged packet was accepted")
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	p, ref := steady()
	lossy := p
	lossy.AckBits, lossy.HasHash, lossy.HashFrame, lossy.HasFEC, lossy.Size = 0xfffff7ff, true, 1224, true, 4
	for name, p := range map[string]Packet{"steady": p, "lossy": lossy} {
		buf := AppendCompact(make([]byte, 0, MaxPacket), &p, ref)
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buf = AppendCompact(buf[:0], &p, ref)
			}
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			var q Packet
			for b.Loop() {
				if err := ParseCompact(buf, &q, ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFull(b *testing.B) {
	p, _ := steady()
	buf := AppendFull(make([]byte, 0, MaxPacket), &p)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendFull(buf[:0], &p)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		var q Packet
		for b.Loop() {
			if err := ParseFull(buf, &q); err != nil {
				b.Fatal(err)
			}
		}
	})
}
