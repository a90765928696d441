package lobby

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backstep/natpunch/cpace"
	"backstep/natpunch/rendezvous"
)

// onceAt alters the first message of a type on its way to a side.
func onceAt(to rendezvous.Side, typ rendezvous.Type, alter func(b []byte) [][]byte) func(rendezvous.Side, []byte) [][]byte {
	done := false
	return func(side rendezvous.Side, b []byte) [][]byte {
		if done || side != to || rendezvous.Type(b[0]) != typ {
			return [][]byte{b}
		}
		done = true
		return alter(b)
	}
}

func flipAt(i int) func([]byte) [][]byte {
	return func(b []byte) [][]byte {
		if i < 0 {
			i += len(b)
		}
		b[i] ^= 1
		return [][]byte{b}
	}
}

func setShare(at int, share []byte) func([]byte) [][]byte {
	return func(b []byte) [][]byte {
		copy(b[at:], share)
		return [][]byte{b}
	}
}

func resession(edit func(*rendezvous.SessionMsg)) func([]byte) [][]byte {
	return func(b []byte) [][]byte {
		var m rendezvous.SessionMsg
		if err := rendezvous.ParseSession(b, &m); err != nil {
			panic(err)
		}
		edit(&m)
		return [][]byte{rendezvous.AppendSession(nil, &m)}
	}
}

// invalidY1 is the draft's invalid point of B.3.11.
var invalidY1 = []byte("\x2b\x3c\x6b\x8c\x4f\x38\x00\xe7\xae\xf6\x86\x40\x25\xb4\xed\x79\xbd\x59\x11\x17\xe4\x27\xc4\x1b\xd4\x7d\x93\xd6\x54\xb4\xa5\x1c")

// TestHostileRelay is attack cases 4 and 5: a relay that alters one thing gets no
// match, and each player hears one sentence. guess says that the host counts it.
func TestHostileRelay(t *testing.T) {
	host, join := rendezvous.SideHost, rendezvous.SideJoin
	for _, c := range []struct {
		name  string
		edit  func(rendezvous.Side, []byte) [][]byte
		join  *Failure
		guess bool     // the host shows a failed guess and goes on waiting
		host  *Failure // the host ends with this; nil and !guess: it shows a new code
	}{
		{"CODE lookup", func(s rendezvous.Side, b []byte) [][]byte {
			if b[0] == byte(rendezvous.TypeCode) {
				// The host shows another first half than the relay has: who types
				// it is unknown.
				if b[17] != '2' {
					b[17] = '2'
				} else {
					b[17] = '3'
				}
			}
			return [][]byte{b}
		}, ErrUnknownCode, false, nil},
		{"CODE lobby", onceAt(host, rendezvous.TypeCode, flipAt(1)), ErrTampered, false, ErrTampered},
		{"SHARE_A lobby", onceAt(join, rendezvous.TypeShareA, flipAt(5)), ErrWrongCode, true, nil},
		{"RUN nJ", onceAt(host, rendezvous.TypeRun, flipAt(5)), ErrWrongCode, true, nil},
		{"SHARE_A nH", onceAt(join, rendezvous.TypeShareA, flipAt(21)), ErrWrongCode, true, nil},
		{"SHARE_A Ya: another element", onceAt(join, rendezvous.TypeShareA, setShare(37, otherShare())), ErrWrongCode, true, nil},
		{"SHARE_A Ya: identity", onceAt(join, rendezvous.TypeShareA, setShare(37, make([]byte, 32))), ErrTampered, false, nil},
		{"SHARE_A Ya: invalid", onceAt(join, rendezvous.TypeShareA, setShare(37, invalidY1)), ErrTampered, false, nil},
		{"SHARE_A ADa side", onceAt(join, rendezvous.TypeShareA, setShare(70, []byte("J"))), ErrTampered, false, nil},
		{"SHARE_A ADa protocol", onceAt(join, rendezvous.TypeShareA, flipAt(72)), ErrWrongCode, true, nil},
		{"SHARE_A ADa data", onceAt(join, rendezvous.TypeShareA, flipAt(-1)), ErrWrongCode, true, nil},
		{"SHARE_B Yb: another element", onceAt(host, rendezvous.TypeShareB, setShare(5, otherShare())), ErrWrongCode, true, nil},
		{"SHARE_B Yb: identity", onceAt(host, rendezvous.TypeShareB, setShare(5, make([]byte, 32))), ErrWrongCode, true, nil},
		{"SHARE_B Yb: invalid", onceAt(host, rendezvous.TypeShareB, setShare(5, invalidY1)), ErrWrongCode, true, nil},
		{"SHARE_B Yb: not canonical", onceAt(host, rendezvous.TypeShareB, setShare(5, bytes.Repeat([]byte{0xff}, 32))), ErrWrongCode, true, nil},
		{"SHARE_B ADb side", onceAt(host, rendezvous.TypeShareB, setShare(38, []byte("H"))), ErrWrongCode, true, nil},
		{"SHARE_B ADb data", onceAt(host, rendezvous.TypeShareB, flipAt(49)), ErrWrongCode, true, nil},
		{"SHARE_B Tb", onceAt(host, rendezvous.TypeShareB, flipAt(-1)), ErrWrongCode, true, nil},
		{"CONF_A Ta", onceAt(join, rendezvous.TypeConfA, flipAt(-1)), ErrWrongCode, false, nil},
		{"CONF_A run", onceAt(join, rendezvous.TypeConfA, flipAt(1)), ErrTampered, false, nil},
		{"SESSION channel", onceAt(host, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Channel++ })), ErrTampered, false, ErrTampered},
		{"SESSION expiry", onceAt(join, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Expiry++ })), ErrTampered, false, ErrTampered},
		{"SESSION relay id", onceAt(join, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.RelayID[0]++ })), ErrTampered, false, ErrTampered},
		{"SESSION endpoints", onceAt(join, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) {
			m.Endpoints[0] = netip.MustParseAddrPort("203.0.113.2:3478")
		})), ErrTampered, false, ErrTampered},
		{"SESSION side", onceAt(join, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Side = host })), ErrTampered, false, nil},
		{"SESSION run", onceAt(host, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Run++ })), ErrGone, false, ErrTampered},
		{"SESSION lobby", onceAt(host, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Lobby[0]++ })), ErrGone, false, ErrTampered},
		{"SESSION without endpoint", onceAt(join, rendezvous.TypeSession, resession(func(m *rendezvous.SessionMsg) { m.Endpoints = nil })), ErrProtocol, false, nil},
		{"SEALED counter", onceAt(join, rendezvous.TypeSealed, flipAt(5)), ErrTampered, false, anything},
		{"SEALED first byte", onceAt(join, rendezvous.TypeSealed, flipAt(15)), ErrTampered, false, anything},
		{"SEALED last byte", onceAt(host, rendezvous.TypeSealed, flipAt(-1)), anything, false, ErrTampered},
		{"SEALED run", onceAt(host, rendezvous.TypeSealed, flipAt(1)), anything, false, ErrTampered},
		{"SEALED cut", onceAt(join, rendezvous.TypeSealed, func(b []byte) [][]byte { return [][]byte{b[:len(b)-1]} }), ErrTampered, false, anything},
		{"text instead of SHARE_A", onceAt(join, rendezvous.TypeShareA, func([]byte) [][]byte { return [][]byte{{0x42}} }), ErrProtocol, false, nil},
		{"nothing instead of CONF_A", onceAt(join, rendezvous.TypeConfA, func([]byte) [][]byte { return [][]byte{{}} }), ErrProtocol, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tb := newTable(t, nil)
				tb.relay.edit = c.edit
				tb.start()
				code := tb.code()
				s, err := tb.join(code, nil)
				switch {
				case c.join == anything:
					if err != nil {
						sentence(t, err, ErrGone)
					}
				default:
					sentence(t, err, c.join)
				}
				if s != nil {
					// What this side saw was right; the other side ends it.
					dead(t, s)
				}
				if c.guess {
					if n := <-tb.guess; n != 1 {
						t.Errorf("guess %d", n)
					}
				}
				synctest.Wait()
				if len(tb.guess) > 0 {
					t.Error("counted as a guess")
				}
				if c.host == nil {
					// The host goes on waiting, with this code or a new one.
					if len(tb.host) > 0 {
						t.Error("the host gave up")
					}
					tb.stop()
				}
				h := <-tb.host
				switch {
				case c.host == nil:
					if !errors.Is(h.err, context.Canceled) {
						t.Error(h.err)
					}
				case c.host == anything && h.err == nil:
					dead(t, h.s)
				case c.host != anything:
					sentence(t, h.err, c.host)
					if h.s != nil {
						dead(t, h.s)
					}
				}
				tb.stop()
				tb.relay.close()
			})
		})
	}
}

// dead checks that a session which one side believed in has ended, and closes it.
func dead(t *testing.T, s *Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, _, err := s.Recv(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the session lives: %v", err)
	}
	s.Close()
}

// anything: the other side may have been content with what it saw before this one ended it.
var anything = &Failure{0, ""}

func otherShare() []byte {
	i, err := cpace.NewInitiator(bytes.NewReader(bytes.Repeat([]byte{5}, 64)), []byte("2222"), nil, nil, nil)
	if err != nil {
		panic(err)
	}
	s := i.Share()
	return s[:]
}

// TestReflection is attack case 5: Ta cannot be had before Tb was right, so a
// guesser sends back what it has: the host's own share and data.
func TestReflection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		var shareA rendezvous.ShareAMsg
		tb.relay.edit = func(to rendezvous.Side, b []byte) [][]byte {
			switch rendezvous.Type(b[0]) {
			case rendezvous.TypeShareA:
				rendezvous.ParseShareA(bytes.Clone(b), &shareA)
			case rendezvous.TypeShareB:
				var m rendezvous.ShareBMsg
				rendezvous.ParseShareB(b, &m)
				m.Share, m.AD = shareA.Share, shareA.AD
				return [][]byte{rendezvous.AppendShareB(nil, &m)}
			}
			return [][]byte{b}
		}
		tb.start()
		_, err := tb.join(tb.code(), nil)
		sentence(t, err, ErrWrongCode)
		if n := <-tb.guess; n != 1 {
			t.Errorf("guess %d", n)
		}
		tb.over()
	})
}

// TestNotAJoiner: somebody who knows the code and confirms as a second host is
// refused like a wrong guess: no two senders share a key.
func TestNotAJoiner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		code := tb.code()
		cfg, err := tb.cfg.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		c, err := dial(context.Background(), &cfg, relayName)
		if err != nil {
			t.Fatal(err)
		}
		nJ := rendezvous.Nonce{1}
		if err := c.send(rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: 1, Lookup: code.Lookup, NonceJ: nJ})); err != nil {
			t.Fatal(err)
		}
		var a rendezvous.ShareAMsg
		if err := rendezvous.ParseShareA(<-c.in, &a); err != nil {
			t.Fatal(err)
		}
		ad := cfg.ad(rendezvous.SideHost)
		adb := cpace.AppendAD(nil, &ad)
		_, yb, tb2, err := cpace.Respond(rand.Reader, []byte(code.Secret), cpace.ChannelID(cpace.Play, code.Lookup, a.Lobby),
			cpace.SessionID(nJ, a.NonceH), &a.Share, a.AD, adb)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.send(rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: a.Run, Share: yb, AD: adb, Tag: tb2})); err != nil {
			t.Fatal(err)
		}
		if err := rendezvous.ParseFail(<-c.in, new(rendezvous.FailMsg)); err != nil || <-tb.guess != 1 {
			t.Errorf("not refused: %v", err)
		}
		c.close()
		tb.over()
	})
}

// TestFakeHost is attack case 3: whoever plays host gets one SHARE_B and no
// second run, whatever it answers.
func TestFakeHost(t *testing.T) {
	for _, answer := range []struct {
		name string
		b    func(run uint32) []byte
		want *Failure
	}{
		{"a wrong Ta", func(run uint32) []byte { return rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: run}) }, ErrWrongCode},
		{"FAIL", func(run uint32) []byte { return rendezvous.AppendFail(nil, &rendezvous.FailMsg{Run: run}) }, ErrWrongCode},
		{"run ended", func(uint32) []byte {
			return rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeRunEnded})
		}, ErrNoAnswer},
		{"displaced", func(uint32) []byte {
			return rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeRunEnded, Retry: 1})
		}, ErrDisplaced},
		{"busy", func(uint32) []byte {
			return rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeBusy, Retry: 1})
		}, ErrBusy},
		{"another SHARE_A", func(run uint32) []byte {
			ad := cpace.AppendAD(nil, &cpace.AD{Side: rendezvous.SideHost, ProtoMin: 1, ProtoMax: 1, Suite: 1})
			return rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run, Share: rendezvous.Share(otherShare()), AD: ad})
		}, ErrProtocol},
		{"away", func(uint32) []byte {
			return rendezvous.AppendError(nil, &rendezvous.ErrorMsg{Code: rendezvous.CodeAway, Retry: 1})
		}, ErrAway},
		{"silence", nil, ErrNoAnswer},
	} {
		t.Run(answer.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tb := newTable(t, nil)
				other := newScripted(t) // the second relay of the code must not be asked
				tb.relay.edit = func(to rendezvous.Side, b []byte) [][]byte {
					if rendezvous.Type(b[0]) != rendezvous.TypeShareB {
						return [][]byte{b}
					}
					var m rendezvous.ShareBMsg
					rendezvous.ParseShareB(b, &m)
					if answer.b != nil {
						tb.relay.write(tb.relay.joiners[m.Run], rendezvous.SideJoin, answer.b(m.Run))
					}
					return nil
				}
				tb.start()
				code := tb.code()
				code.Relays = []string{"10.0.0.1", "10.0.0.2"}
				tb.cfg.Dial = network{relayName: tb.relay.ln, "10.0.0.2:3478": other.ln}.dial
				_, err := tb.join(code, nil)
				sentence(t, err, answer.want)
				time.Sleep(time.Minute)
				if n := tb.relay.count(rendezvous.TypeShareB); n != 1 {
					t.Errorf("%d SHARE_B", n)
				}
				if n := tb.relay.count(rendezvous.TypeJoin) + other.count(rendezvous.TypeJoin); n != 1 {
					t.Errorf("%d JOIN", n)
				}
				tb.over()
				other.close()
			})
		})
	}
}

// TestErrorsDoNotShowTheCode: no sentence repeats what was typed.
func TestErrorsDoNotShowTheCode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tb := newTable(t, nil)
		tb.start()
		code := wrong(tb.code())
		_, err := tb.join(code, nil)
		if !errors.Is(err, ErrWrongCode) || strings.Contains(err.Error(), string(code.Secret)) {
			t.Error(err)
		}
		tb.over()
	})
}
