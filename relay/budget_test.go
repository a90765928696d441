package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"

	"github.com/rs/zerolog"
)

// A budget runs from free over no-new-lobbies to STUN only, is remembered across a restart, and is free again next month.
func TestEgressBudget(t *testing.T) {
	var log lockedBuffer
	c := Config{EgressBudget: 200_000, StateDir: t.TempDir(), Admin: "127.0.0.1:0", Limits: manyPeers, Log: zerolog.New(&log)}
	r := startAt(t, c)
	_, _, hs, js := meet(t, r)
	host, join := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := tokenOf(&hs), tokenOf(&js)
	host.bind(hk)
	join.bind(jk)
	frame := rendezvous.AppendData(nil, hs.Channel, make([]byte, 1000))
	spend := func(until uint64) {
		t.Helper()
		for r.egress() < until {
			r.time.advance(20 * time.Millisecond)
			host.send(frame)
			if join.next(patience) == nil {
				t.Fatal("nothing arrives")
			}
		}
		r.watchBudget()
	}
	spend(180_000)
	if code, body := r.get(t, "/readyz"); code != 200 {
		t.Fatal(code, body)
	}
	spend(190_000)
	if code, body := r.get(t, "/readyz"); code != 503 || !strings.Contains(body, "egress") {
		t.Fatal(code, body)
	}
	r.noEntry(t, rendezvous.CodeStunOnly)
	spend(200_000) // the match goes on until then
	r.silent(t, host, frame, dropBudget)
	r.silent(t, host, hk.frame(), dropBudget)
	id := [12]byte{4}
	host.send(appendStunRequest(nil, id, 128))
	mappedOf(t, host.next(patience), id)
	if _, resp, err := dialTunnel(t, r, "127.0.0.1", nil); err == nil || resp.StatusCode != 503 {
		t.Fatal("a tunnel was opened", err)
	}
	if _, body := r.get(t, "/metrics"); !strings.Contains(body, "backstep_relay_month_egress_budget_bytes 200000\n") {
		t.Fatal("the metrics lack the budget")
	}
	r.Close()
	<-r.done
	r.done <- nil
	used := r.budget.spent()

	again := startAt(t, c)
	if got := again.budget.spent(); got != used {
		t.Fatalf("%d bytes after the restart, before %d", got, used)
	}
	other := dialUDP(t, again.addr, "127.0.0.1")
	again.silent(t, other, again.token(0, 1, 1).frame(), dropBudget)
	again.time.advance(31 * 24 * time.Hour)
	again.watchBudget()
	other.bind(again.token(0, 1, 1))
	again.player(t).host(rendezvous.ResumeToken{})
	if code, body := again.get(t, "/readyz"); code != 200 {
		t.Fatal(code, body)
	}
	for _, want := range []string{"nearly used up", "STUN only", "free again"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// What is counted is never less than what went over the wire.
func TestEgressCountsHeaders(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	host, join := dialUDP(t, r.addr, "127.0.0.1"), r.tunnel(t)
	host.bind(r.token(rendezvous.SideHost, 7, 1)) // CHAL, ACK
	join.bind(r.token(rendezvous.SideJoin, 7, 1)) // ACK over TCP
	// What was sent is counted after it is on its way, so the count follows.
	reaches := func(want uint64) uint64 {
		for end := time.Now().Add(10 * time.Second); r.egress() < want && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		return r.egress()
	}
	want := uint64(rendezvous.ChalSize + rendezvous.AckSize + 2*28 + rendezvous.AckSize + 68)
	before := reaches(want)
	if before != want {
		t.Fatalf("%d bytes, want %d", before, want)
	}
	carry(t, 7, join, host)
	if got := reaches(before+28+5+1) - before; got < 28+5+1 {
		t.Fatal(got)
	}
}

func TestBudgetFileDamagedIsKept(t *testing.T) {
	good := budgetText("2026-05", 5)
	for name, text := range map[string]string{"empty": "", "cut": good[:len(good)-3], "header": "x" + good, "more": good + "1", "negative": budgetHeader + "\n2026-05 -5\n"} {
		dir := t.TempDir()
		file := filepath.Join(dir, budgetFile)
		os.WriteFile(file, []byte(text), 0o600)
		_, err := New(Config{EgressBudget: 1 << 30, StateDir: dir, Listen: []string{"127.0.0.1:0"}})
		if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if b, _ := os.ReadFile(file); string(b) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, budgetFile), []byte(good), 0o600)
	may := time.Date(2026, 5, 31, 23, 59, 0, 0, time.UTC)
	for at, want := range map[time.Time]uint64{may: 5, may.Add(time.Minute): 0} {
		if b, err := loadBudget(100, dir, at); err != nil || b.used != want {
			t.Errorf("at %v: %d %v", at, b.used, err)
		}
	}
}
