package lobby

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"backstep/natpunch/rendezvous"
)

// TestThreeGuesses is attack case 1: each wrong secret is shown, a dropped
// WebSocket in between resets nothing, the third brings a new code in both
// halves, longer by two symbols, and with it the match.
func TestThreeGuesses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		first := tb.code()
		for n := 1; n <= 3; n++ {
			_, err := tb.join(wrong(first), nil)
			sentence(t, err, ErrWrongCode)
			if got := <-tb.guess; got != n {
				t.Errorf("guess %d shown as %d", n, got)
			}
			if n < 3 {
				tb.relay.drop()
				time.Sleep(10 * time.Second) // the host takes its lobby back
				if len(tb.codes) != 0 {
					t.Fatal("a new code after a dropped connection")
				}
			}
		}
		second := tb.code()
		if second.Lookup == first.Lookup || second.Secret[:4] == first.Secret || len(second.Secret) != 6 {
			t.Errorf("codes %s then %s", first, second)
		}
		_, err := tb.join(first, nil)
		sentence(t, err, ErrUnknownCode)
		tb.meet(second, nil)
		tb.relay.close()
	})
}

// TestCodesGrow: codes that are guessed away get longer up to eight symbols; codes
// that merely expire do not.
func TestCodesGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		var lengths []int
		for range 4 {
			code := tb.code()
			lengths = append(lengths, len(code.Secret))
			for range maxGuesses {
				tb.join(wrong(code), nil)
				<-tb.guess
			}
		}
		if !slices.Equal(lengths, []int{4, 6, 8, 8}) {
			t.Errorf("lengths %v", lengths)
		}
		tb.over()
	})
}

// TestExpiry: a code lives 15 minutes even if the relay says longer; then both
// halves are new and guesses start anew; --wait ends the waiting.
func TestExpiry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, func(c *Config) { c.Wait = 40 * time.Minute })
		tb.relay.ttl = 65535
		tb.start()
		began := time.Now()
		a := tb.code()
		b := tb.code()
		if took := time.Since(began).Round(time.Second); took != 15*time.Minute {
			t.Errorf("first code lived %v", took)
		}
		if a.Lookup == b.Lookup || a.Secret == b.Secret || len(b.Secret) != 4 {
			t.Errorf("%s then %s", a, b)
		}
		tb.code()
		h := <-tb.host
		sentence(t, h.err, ErrNobodyCame)
		if took := time.Since(began).Round(time.Second); took != 40*time.Minute {
			t.Errorf("waited %v", took)
		}
		tb.relay.close()
	})
}

// TestStingyRelay: a relay that lets codes live a second, or not at all, makes
// the host neither spin nor hand out guesses.
func TestStingyRelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, func(c *Config) { c.Wait, c.OnCode = time.Minute, nil })
		tb.relay.ttl = 1
		tb.start()
		h := <-tb.host
		sentence(t, h.err, ErrNobodyCame)
		if n := tb.relay.lobbies; n > 62 {
			t.Errorf("%d lobbies in a minute", n)
		}
		tb.relay.close()
	})
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.relay.ttl = 0
		tb.start()
		h := <-tb.host
		sentence(t, h.err, ErrProtocol)
		tb.relay.close()
	})
}

// TestResume: the WebSocket drops, the code stays; the relay forgets the lobby,
// the code is new; the relay goes away for good, the host says so.
func TestResume(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		code := tb.code()
		for range 3 {
			tb.relay.drop()
			time.Sleep(20 * time.Second)
		}
		if len(tb.codes) != 0 || tb.relay.lobbies != 1 {
			t.Errorf("%d lobbies", tb.relay.lobbies)
		}
		tb.relay.mu.Lock()
		tb.relay.resume = rendezvous.ResumeToken{} // as after a restart
		tb.relay.mu.Unlock()
		tb.relay.drop()
		second := tb.code()
		if second.Lookup == code.Lookup || second.Secret == code.Secret {
			t.Errorf("%s then %s", code, second)
		}
		tb.relay.ln.Close()
		tb.relay.drop()
		began := time.Now()
		h := <-tb.host
		sentence(t, h.err, ErrUnreachable)
		if took := time.Since(began); took < 50*time.Second || took > 80*time.Second {
			t.Errorf("gave up after %v", took)
		}
		tb.relay.close()
	})
}

// TestSilentRelay: a relay that vanishes without a word is noticed by the pings.
func TestSilentRelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		hole := &blackhole{}
		inner := tb.cfg.Dial
		tb.cfg.Dial = hole.dial(inner)
		tb.start()
		tb.code()
		hole.swallow.Store(true)
		time.Sleep(2 * time.Minute)
		if n := hole.dials.Load(); n < 2 {
			t.Errorf("%d connections: the silence was not noticed", n)
		}
		tb.over()
	})
}

// TestStoppedRuns is attack case 2 as the host sees it: 1000 runs that stop after
// SHARE_A count as no guess, leave at most four runs in memory, keep the host
// below the relay's message limit, and an honest joiner gets in within 10 s.
func TestStoppedRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.relay.runLife = 80 * time.Millisecond // four open runs at 50 a second
		tb.start()
		code := tb.code()
		stop := make(chan struct{})
		flooded := make(chan struct{})
		go func() {
			defer close(flooded)
			for n := uint32(1000); n < 2000; n++ {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				tb.relay.mu.Lock()
				tb.relay.write(tb.relay.host, rendezvous.SideHost, rendezvous.AppendRun(nil, &rendezvous.RunMsg{Run: n}))
				tb.relay.mu.Unlock()
			}
		}()
		time.Sleep(10 * time.Second)
		if n := tb.relay.count(rendezvous.TypeShareA); n > 10*16 {
			t.Errorf("%d SHARE_A in 10 s: a relay would end this host", n)
		}
		began := time.Now()
		j, err := tb.join(code, nil)
		if err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		close(stop)
		<-flooded
		h := <-tb.host
		if h.err != nil || len(tb.guess) != 0 {
			t.Fatal(h.err, len(tb.guess))
		}
		h.s.Close()
		j.Close()
		tb.relay.close()
	})
}

func TestRunTable(t *testing.T) {
	var rt runTable
	now := time.Unix(1, 0)
	n := 0
	for i := range uint32(1000) {
		rt.add(rendezvous.RunMsg{Run: i})
		if d, ok := rt.due(now); ok && d == 0 {
			if m := rt.draw(); m.Run > i || m.Run+maxRuns <= i {
				t.Fatalf("run %d drawn at %d", m.Run, i)
			}
			n++
		}
		now = now.Add(10 * time.Millisecond)
	}
	if n < 10*runRate || n > 10*runRate+runBurst {
		t.Errorf("%d runs answered in 10 s", n)
	}
	rt.wipe()
	if _, ok := rt.due(now); ok || rt.remove(7) != nil {
		t.Error("a run out of nothing")
	}
}

// TestJoinerGoneBeforeHello: the code is used up and the opponent gone, so the
// host shows a new code and goes on waiting.
func TestJoinerGoneBeforeHello(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		deaf := true
		tb.relay.edit = func(to rendezvous.Side, b []byte) [][]byte {
			if to == rendezvous.SideJoin && deaf && b[0] >= byte(rendezvous.TypeSession) {
				return nil
			}
			return [][]byte{b}
		}
		tb.start()
		first := tb.code()
		_, err := tb.join(first, func(c *Config) { c.Timeout = 2 * time.Second })
		sentence(t, err, ErrNoAnswer)
		second := tb.code()
		if second.Lookup == first.Lookup || second.Secret == first.Secret {
			t.Errorf("%s then %s", first, second)
		}
		tb.relay.mu.Lock()
		deaf = false
		tb.relay.mu.Unlock()
		tb.meet(second, nil)
		tb.relay.close()
	})
}

// TestLobbyTakenAway: a relay that says a waiting host's lobby is gone or
// expired is asked for another; the code is new.
func TestLobbyTakenAway(t *testing.T) {
	for _, code := range []rendezvous.ErrorCode{rendezvous.CodeGone, rendezvous.CodeExpired} {
		bubble(t, func(t *testing.T) {
			tb := newTable(t, nil)
			tb.start()
			first := tb.code()
			tb.relay.mu.Lock()
			tb.relay.write(tb.relay.host, rendezvous.SideHost, rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: code}))
			tb.relay.mu.Unlock()
			if second := tb.code(); second.Lookup == first.Lookup || second.Secret == first.Secret {
				t.Errorf("%v: %s then %s", code, first, second)
			}
			tb.over()
		})
	}
}

// TestHostRefusals: a relay that does not take a host in says why.
func TestHostRefusals(t *testing.T) {
	for _, c := range []struct {
		code rendezvous.ErrorCode
		want *Failure
	}{
		{rendezvous.CodeDraining, ErrBusy}, {rendezvous.CodeLobbies, ErrBusy}, {rendezvous.CodeStunOnly, ErrBusy},
		{rendezvous.CodeVersion, ErrRelayVersion}, {rendezvous.CodeResume, ErrProtocol}, {99, ErrProtocol},
	} {
		bubble(t, func(t *testing.T) {
			tb := newTable(t, nil)
			tb.relay.edit = func(rendezvous.Side, []byte) [][]byte {
				return [][]byte{rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: c.code, Retry: 9})}
			}
			tb.start()
			h := <-tb.host
			sentence(t, h.err, c.want)
			tb.relay.close()
		})
	}
}

// TestCancel: the cause of the context is what both sides return, wherever they wait.
func TestCancel(t *testing.T) {
	cause := errors.New("interrupted")
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() {
			s, err := Host(ctx, tb.cfg)
			tb.host <- result{s, err}
		}()
		code := tb.code()
		tb.relay.mu.Lock()
		tb.relay.deafJoin = true
		tb.relay.mu.Unlock()
		joined := make(chan error)
		go func() {
			cfg := tb.cfg
			_, err := Join(ctx, cfg, code)
			joined <- err
		}()
		time.Sleep(time.Second)
		cancel(cause)
		if err := <-joined; !errors.Is(err, cause) {
			t.Errorf("join: %v", err)
		}
		if h := <-tb.host; !errors.Is(h.err, cause) {
			t.Errorf("host: %v", h.err)
		}
		tb.relay.close()
	})
}

// TestOversized: a message above 4096 bytes ends the connection, not the process.
func TestOversized(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		tb.code()
		tb.relay.mu.Lock()
		c := tb.relay.host
		tb.relay.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c.Write(ctx, websocket.MessageBinary, make([]byte, 1<<20))
		cancel()
		time.Sleep(10 * time.Second)
		if tb.relay.count(rendezvous.TypeHost) < 2 {
			t.Error("the host did not come back")
		}
		tb.over()
	})
}
