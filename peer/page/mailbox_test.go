package page

import "testing"

// A page that says what it has seen never has more than two snapshots on their
// way, and gets the newest when it is ready for another.
func TestSnapshotsWaitForThePage(t *testing.T) {
	m, s := newMailbox(), testSnapshot()
	send := func(clock uint32) {
		s.ClockMillis = clock
		m.snapshot(s.appendHead(nil), s.appendTail(nil), s)
	}
	take := func(want uint32) {
		t.Helper()
		b, ok := m.take(nil)
		switch {
		case want == 0 && ok:
			t.Fatalf("a snapshot of %d B too many", len(b))
		case want > 0 && (!ok || uint32(b[16]) != want):
			t.Fatalf("snapshot %d is not the next one", want)
		}
	}
	for clock := range uint32(5) { // nobody said anything yet: as it comes
		send(clock + 1)
		take(clock + 1)
	}
	if !m.see(5) {
		t.Fatal("five were sent")
	}
	for _, clock := range []uint32{11, 12} {
		send(clock)
		take(clock)
	}
	for clock := range uint32(30) {
		send(13 + clock)
		take(0)
	}
	if m.see(8) {
		t.Error("more were seen than sent")
	}
	if !m.see(6) {
		t.Error("one more was seen")
	}
	take(42)
	take(0)
	for k := range 70_000 { // around the end of the count
		n := uint16(k)
		if !m.see(8 + n) {
			t.Fatalf("count %d", 8+n)
		}
		send(7)
		take(7)
	}
}
