package relay

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"backstep/natpunch/rendezvous"
)

func TestLobbyFlow(t *testing.T) {
	r := start(t, Config{})
	host, join := r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	if !code.Lookup.Valid() || code.TTL != 900 || code.Lobby == (rendezvous.LobbyID{}) || code.Resume == (rendezvous.ResumeToken{}) {
		t.Fatalf("%+v", code)
	}
	join.join(code.Lookup)
	run := host.run()
	if run.NonceJ != (rendezvous.Nonce{7}) || run.Run == 0 {
		t.Fatalf("%+v", run)
	}
	agree(t, host, join, run.Run)
	host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run.Run}))
	hs, js := host.session(), join.session()
	if hs.Side != rendezvous.SideHost || js.Side != rendezvous.SideJoin || hs.RegKey == js.RegKey {
		t.Fatalf("%+v\n%+v", hs, js)
	}
	if hs.Sheet() != js.Sheet() {
		t.Fatal("the two were told different stories")
	}
	if len(hs.Endpoints) != 1 || hs.Endpoints[0] != r.addr || hs.Lobby != code.Lobby || hs.Run != run.Run {
		t.Fatalf("%+v", hs)
	}
	if left := int64(hs.Expiry) - time.Now().Unix(); left < 12*3600-5 || left > 12*3600+5 {
		t.Fatalf("expires in %d s", left)
	}
	for ctr := range uint64(3) {
		box := bytes.Repeat([]byte{byte(ctr)}, 272+int(ctr)*256)
		pass(t, host, join, rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: run.Run, Ctr: ctr, Box: box}))
		pass(t, join, host, rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: run.Run, Ctr: ctr, Box: box}))
	}
	// What SESSION allots works on UDP.
	a, b := dialUDP(t, hs.Endpoints[0], "127.0.0.1"), dialUDP(t, js.Endpoints[0], "127.0.0.1")
	a.bind(tokenOf(&hs))
	b.bind(tokenOf(&js))
	exchange(t, hs.Channel, a, b)
	exchange(t, hs.Channel, b, a)
	// The code serves one opponent.
	late := r.player(t)
	late.join(code.Lookup)
	late.refused(rendezvous.CodeFull)
	// One leaves, the other is told and keeps its connection.
	join.ws.Close(1000, "")
	host.refused(rendezvous.CodeGone)
	host.host(rendezvous.ResumeToken{})
}

func tokenOf(s *rendezvous.SessionMsg) *token {
	return &token{Reg: rendezvous.Reg{Side: s.Side, Channel: s.Channel, Lobby: s.Lobby, Expiry: s.Expiry}, key: s.RegKey}
}

// Attack case 13: a restarted relay that finds its secret knows the tokens of running matches.
func TestCase13RestartKeepsTokens(t *testing.T) {
	dir := t.TempDir()
	r := start(t, Config{StateDir: dir})
	_, _, hs, js := meet(t, r)
	a, b := dialUDP(t, r.addr, "127.0.0.1"), dialUDP(t, r.addr, "127.0.0.1")
	hk, jk := tokenOf(&hs), tokenOf(&js)
	a.bind(hk)
	b.bind(jk)
	exchange(t, hs.Channel, a, b)
	r.stop()
	<-r.done
	r.done <- nil
	again := start(t, Config{StateDir: dir, Listen: []string{r.addr.String()}})
	if again.fwd.secret != r.fwd.secret {
		t.Fatal("another secret")
	}
	again.silent(t, a, rendezvous.AppendData(nil, hs.Channel, []byte("x")), dropDataChannel)
	a.bind(hk)
	b.bind(jk)
	exchange(t, hs.Channel, a, b)
	exchange(t, hs.Channel, b, a)

	other := start(t, Config{StateDir: t.TempDir()})
	a.relay = other.addr
	other.silent(t, a, hk.frame(), dropRegTag)
}

func TestLookupsAreUniqueAndUnbiased(t *testing.T) {
	set, _ := Config{}.check()
	h := newHub(&set, randomSecret(), newClock(time.Now), newEvents(&set))
	var symbols [256]int
	for range 20_000 {
		l := h.drawLookup()
		if h.lookups[l] != nil {
			t.Fatal("drawn twice")
		}
		h.lookups[l] = &lobby{}
		for _, c := range l {
			symbols[c]++
		}
	}
	for _, c := range rendezvous.Alphabet {
		if n := symbols[c]; n < 2963-300 || n > 2963+300 { // 80000/27, 5.5 sigma
			t.Errorf("%c drawn %d times of 80000", c, n)
		}
	}
}

func TestUnknownExpiredFull(t *testing.T) {
	r := startAt(t, Config{Limits: manyPeers})
	host, join := r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	other := code.Lookup
	other[0] = '2' + code.Lookup[0]%2
	if other != code.Lookup {
		join.join(other)
		join.refused(rendezvous.CodeUnknown)
	}
	r.time.advance(15*time.Minute - time.Second)
	r.hub.sweep(r.clock.mono())
	r.time.advance(time.Second)
	r.hub.sweep(r.clock.mono())
	host.refused(rendezvous.CodeExpired)
	late := r.player(t)
	late.join(code.Lookup)
	late.refused(rendezvous.CodeExpired)
	// The host may ask for another code on the same connection, and the old token is worth nothing.
	if again := host.host(rendezvous.ResumeToken{}); again.Lookup == code.Lookup {
		t.Fatal("the expired lookup was handed out again")
	}
	back := r.player(t)
	back.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1, Resume: code.Resume}))
	back.refused(rendezvous.CodeResume)
	back.host(rendezvous.ResumeToken{}) // and the connection stands
	r.time.advance(15 * time.Minute)
	r.hub.sweep(r.clock.mono())
	if len(r.hub.lookups) != 2 {
		t.Fatalf("%d lookups remembered", len(r.hub.lookups))
	}
}

// A lobby outlives its host's connection; the newest connection with the token has it.
func TestResume(t *testing.T) {
	r := startAt(t, Config{Limits: manyPeers})
	host, join := r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	join.join(code.Lookup)
	first := host.run()
	host.ws.CloseNow()
	if m := join.refused(rendezvous.CodeAway); m.Retry == 0 {
		t.Fatal("no time to wait")
	}
	// One who keeps asking keeps the connection.
	for range 4 {
		r.time.advance(4 * time.Second)
		r.hub.sweep(r.clock.mono())
		join.join(code.Lookup)
		if m := join.refused(rendezvous.CodeAway); m.Retry == 0 {
			t.Fatal("no time to wait")
		}
	}
	r.time.advance(44 * time.Second)
	back := r.player(t)
	again := back.host(code.Resume)
	if again.Lobby != code.Lobby || again.Lookup != code.Lookup || again.Resume != code.Resume || again.TTL != 840 {
		t.Fatalf("%+v, was %+v", again, code)
	}
	join.join(code.Lookup)
	second := back.run()
	if second.Run == first.Run {
		t.Fatal("a run number twice")
	}
	// Taken over by a third connection, while the second still stands.
	third := r.player(t)
	third.host(code.Resume)
	back.refused(rendezvous.CodeGone)
	back.closed()
	join.refused(rendezvous.CodeAway)
	join.join(code.Lookup)
	take(t, third, join)
	late := r.player(t)
	late.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1, Resume: code.Resume}))
	late.refused(rendezvous.CodeResume)
}

func TestHostAwayTooLong(t *testing.T) {
	r := startAt(t, Config{Limits: manyPeers})
	host := r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	host.ws.CloseNow()
	wait(t, "the relay to notice", func() bool { return r.hub.gauges().conns == 0 })
	r.time.advance(2 * time.Minute)
	r.hub.sweep(r.clock.mono())
	join := r.player(t)
	join.join(code.Lookup)
	join.refused(rendezvous.CodeUnknown)
}

// A host that says goodbye takes its code along.
func TestHostLeaves(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	host, join, late := r.player(t), r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	join.join(code.Lookup)
	host.run()
	host.ws.Close(1000, "")
	join.refused(rendezvous.CodeGone)
	late.join(code.Lookup)
	late.refused(rendezvous.CodeUnknown)
}

// HOST on a connection that holds a lobby retires its code.
func TestHostRetiresCode(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	host, join := r.player(t), r.player(t)
	first := host.host(rendezvous.ResumeToken{})
	join.join(first.Lookup)
	run := host.run().Run
	pass(t, host, join, rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: run}))
	pass(t, join, host, rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: run}))
	pass(t, host, join, rendezvous.AppendFail(nil, &rendezvous.FailMsg{Run: run}))
	second := host.host(rendezvous.ResumeToken{})
	if first.Lookup == second.Lookup || first.Lobby == second.Lobby || first.Resume == second.Resume {
		t.Fatal("the new code shares something with the old")
	}
	join.join(first.Lookup)
	join.refused(rendezvous.CodeUnknown)
	join.join(second.Lookup)
	host.run()
	if n := r.hub.count.guesses.Load(); n != 1 {
		t.Fatalf("%d failed guesses", n)
	}
}

// The joiner leaves between its confirmation and TAKEN: the code is not used up.
func TestJoinerGoneBeforeTaken(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	host, join := r.player(t), r.player(t)
	code := host.host(rendezvous.ResumeToken{})
	join.join(code.Lookup)
	run := host.run().Run
	agree(t, host, join, run)
	join.ws.CloseNow()
	wait(t, "the relay to notice", func() bool { return r.hub.gauges().runs == 0 })
	host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: run}))
	host.refused(rendezvous.CodeGone)
	next := r.player(t)
	next.join(code.Lookup)
	take(t, host, next)
}

func TestMessagesOutOfTurn(t *testing.T) {
	r := start(t, Config{Limits: manyPeers})
	type pair struct {
		host, join *player
		run        uint32
	}
	joined := func() pair {
		p := pair{host: r.player(t), join: r.player(t)}
		code := p.host.host(rendezvous.ResumeToken{})
		p.join.join(code.Lookup)
		p.run = p.host.run().Run
		return p
	}
	sealed := func(run uint32) []byte {
		return rendezvous.AppendSealed(nil, &rendezvous.SealedMsg{Run: run, Box: []byte{1}})
	}
	for name, f := range map[string]func(pair) *player{
		"taken before confirmation": func(p pair) *player {
			p.host.send(rendezvous.AppendTaken(nil, &rendezvous.TakenMsg{Run: p.run}))
			return p.host
		},
		"confirmation before share": func(p pair) *player {
			p.host.send(rendezvous.AppendConfA(nil, &rendezvous.ConfAMsg{Run: p.run}))
			return p.host
		},
		"share of joiner first": func(p pair) *player {
			p.join.send(rendezvous.AppendShareB(nil, &rendezvous.ShareBMsg{Run: p.run}))
			return p.join
		},
		"share twice": func(p pair) *player {
			b := rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: p.run})
			pass(t, p.host, p.join, b)
			p.host.send(b)
			return p.host
		},
		"sealed before session": func(p pair) *player { p.join.send(sealed(p.run)); return p.join },
		"sealed of host":        func(p pair) *player { p.host.send(sealed(p.run)); return p.host },
		"a run that never was": func(p pair) *player {
			p.host.send(rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: p.run + 1}))
			return p.host
		},
		"host plays joiner": func(p pair) *player { p.host.join(rendezvous.Lookup{'2', '2', '2', '2'}); return p.host },
		"joiner plays host": func(p pair) *player {
			p.join.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 1}))
			return p.join
		},
		"relay's own message": func(p pair) *player { p.join.send(rendezvous.AppendError(nil, &rendezvous.ErrorMsg{})); return p.join },
		"empty":               func(p pair) *player { p.join.send(nil); return p.join },
		"text": func(p pair) *player {
			p.join.ws.Write(t.Context(), 1, []byte("hello"))
			return p.join
		},
		"cut off": func(p pair) *player {
			p.host.send(rendezvous.AppendShareA(nil, &rendezvous.ShareAMsg{Run: p.run})[:50])
			return p.host
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := joined()
			bad := f(p)
			bad.refused(rendezvous.CodeMalformed)
			bad.closed()
		})
	}
	t.Run("version", func(t *testing.T) {
		p := r.player(t)
		p.send(rendezvous.AppendHost(nil, &rendezvous.HostMsg{Version: 2}))
		p.refused(rendezvous.CodeVersion)
		p.closed()
		p = r.player(t)
		p.send(rendezvous.AppendJoin(nil, &rendezvous.JoinMsg{Version: 0, Lookup: rendezvous.Lookup{'2', '2', '2', '2'}}))
		p.refused(rendezvous.CodeVersion)
		p.closed()
	})
	// None of that disturbed anybody else.
	meet(t, r)
}

func TestSessionEndpoints(t *testing.T) {
	loop, v4, v6 := netip.MustParseAddrPort("127.0.0.1:3478"), netip.MustParseAddrPort("192.168.1.5:3478"), netip.MustParseAddrPort("[2001:db8::5]:3478")
	for _, x := range []struct {
		public  string
		reached []netip.AddrPort
		want    []string
	}{
		{"", []netip.AddrPort{loop, loop}, []string{"127.0.0.1:3478"}},
		{"", []netip.AddrPort{loop, v4}, []string{"127.0.0.1:3478", "192.168.1.5:3478"}},
		{"", []netip.AddrPort{netip.MustParseAddrPort("[fe80::1%eth0]:3478"), v6}, []string{"[2001:db8::5]:3478"}},
		{"203.0.113.1", []netip.AddrPort{loop, v4}, []string{"203.0.113.1:3478"}},
		{"203.0.113.1:40000", []netip.AddrPort{v4, v6}, []string{"203.0.113.1:40000", "[2001:db8::5]:3478"}},
		{"2001:db8::9", []netip.AddrPort{v4, v6}, []string{"[2001:db8::9]:3478"}},
	} {
		set, err := Config{PublicAddr: x.public}.check()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range (&Server{set: set}).sessionEndpoints(x.reached...) {
			got = append(got, a.String())
		}
		if len(got) != len(x.want) || got[0] != x.want[0] || got[len(got)-1] != x.want[len(x.want)-1] {
			t.Errorf("public %q, reached %v: %v, want %v", x.public, x.reached, got, x.want)
		}
	}
}
