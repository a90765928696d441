package portmap

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// granted is what miniupnpd 2.3.1 answers to a request for port 40000.
const granted = "02810000" + "000004b0" + "00000007" + "000000000000000000000000" +
	"0102030405060708090a0b0c" + "11000000" + "9c40" + "9c41" + "00000000000000000000ffff32000001"

func TestPCPEncoding(t *testing.T) {
	request := pcpRequest{
		Lifetime: 1200, Client: netip.MustParseAddr("10.1.0.2"), Nonce: [12]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		Internal: 40000, External: netip.MustParseAddrPort("50.0.0.1:40001"),
	}
	want := "02010000" + "000004b0" + "00000000000000000000ffff0a010002" + "0102030405060708090a0b0c" + "11000000" + "9c40" + "9c41" + "00000000000000000000ffff32000001"
	if got := hex.EncodeToString(appendPCPRequest(nil, &request)); got != want {
		t.Errorf("request\n%s, want\n%s", got, want)
	}
	request.External = netip.AddrPort{}
	if b := appendPCPRequest(nil, &request); !bytes.Equal(b[42:], unhex(t, "0000"+"00000000000000000000ffff00000000")) {
		t.Errorf("no wish is %x", b[42:])
	}
	r, err := parsePCPResponse(unhex(t, granted))
	if err != nil || r.Lifetime != 1200 || r.Epoch != 7 || r.Nonce != request.Nonce || r.Internal != 40000 || r.External != netip.MustParseAddrPort("50.0.0.1:40001") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPCPRefusals(t *testing.T) {
	change := func(at int, to byte) []byte {
		b := unhex(t, granted)
		b[at] = to
		return b
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want error
	}{
		{"empty", nil, ErrMalformed},
		{"cut off", unhex(t, granted)[:59], ErrMalformed},
		{"too long", append(unhex(t, granted), 0, 0, 0, 0), ErrMalformed},
		{"a request", change(1, 1), ErrMalformed},
		{"another operation", change(1, 0x82), ErrMalformed},
		{"TCP", change(36, 6), ErrMalformed},
		{"reserved byte", change(2, 1), ErrMalformed},
		{"reserved bytes in the middle", change(13, 1), ErrMalformed},
		{"a NAT-PMP router", unhex(t, "0081000100000007"), ErrVersion},
		{"another version", change(3, 1), ErrVersion},
		{"not authorized", change(3, 2), ErrRefused},
		{"no resources, header only", change(3, 8)[:24], ErrRefused},
		{"a result without a name", change(3, 99), ErrRefused},
	} {
		if _, err := parsePCPResponse(tt.b); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzParsePCPResponse(f *testing.F) {
	f.Add(unhex(f, granted))
	f.Add(unhex(f, "0081000100000007"))
	f.Add(unhex(f, granted)[:24])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parsePCPResponse(b)
		if err == nil && !bytes.Equal(appendPCPResponse(nil, &r), b) {
			t.Errorf("%x is read as %+v", b, r)
		}
	})
}

func TestPCPRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r pcpResponse
		r.Lifetime, r.Epoch = rapid.Uint32().Draw(t, "lifetime"), rapid.Uint32().Draw(t, "epoch")
		copy(r.Nonce[:], rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(t, "nonce"))
		r.Internal = rapid.Uint16().Draw(t, "internal")
		ip := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")))
		r.External = netip.AddrPortFrom(ip, rapid.Uint16().Draw(t, "external"))
		if got, err := parsePCPResponse(appendPCPResponse(nil, &r)); err != nil || got != r {
			t.Fatalf("%+v comes back as %+v, %v", r, got, err)
		}
	})
}

// router answers PCP requests on loopback the way reply says; nil is silence.
func router(t *testing.T, reply func(n int, request []byte) []byte) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		c.Close()
		<-done
	})
	go func() {
		defer close(done)
		b := make([]byte, 1500)
		for n := 0; ; n++ {
			size, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			if out := reply(n, b[:size]); out != nil {
				_, _ = c.WriteToUDPAddrPort(out, from)
			}
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// answered is a router's answer to a request.
func answered(request []byte, r pcpResponse) []byte {
	copy(r.Nonce[:], request[24:36])
	r.Internal = uint16(request[40])<<8 | uint16(request[41])
	return appendPCPResponse(nil, &r)
}

func TestPCPClient(t *testing.T) {
	outside := netip.MustParseAddrPort("50.0.0.1:40001")
	yes := pcpResponse{Lifetime: 600, External: outside}
	for _, tt := range []struct {
		name  string
		reply func(n int, request []byte) []byte
		want  error
	}{
		{"at once", func(_ int, q []byte) []byte { return answered(q, yes) }, nil},
		{"the first is lost", func(n int, q []byte) []byte {
			if n == 0 {
				return nil
			}
			return answered(q, yes)
		}, nil},
		{"garbage, then right", func(n int, q []byte) []byte {
			if n == 0 {
				return []byte("garbage")
			}
			return answered(q, yes)
		}, nil},
		{"another client's answer", func(n int, q []byte) []byte {
			b := answered(q, yes)
			if n == 0 {
				b[24] ^= 1
			}
			return b
		}, nil},
		{"refused", func(_ int, q []byte) []byte {
			b := answered(q, yes)
			b[3] = 2
			return b
		}, ErrRefused},
		{"NAT-PMP", func(int, []byte) []byte { return []byte{0, 0x81, 0, 1, 0, 0, 0, 7} }, ErrVersion},
		{"silent", func(int, []byte) []byte { return nil }, ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPCP(netip.Addr{}, netip.MustParseAddr("127.0.0.1"))
			p.server = router(t, tt.reply)
			m, err := p.add(t.Context(), Mapping{Internal: 40000})
			if !errors.Is(err, tt.want) || err == nil && (m.External != outside || m.Lifetime != 10*time.Minute) {
				t.Errorf("%+v, %v; want %v", m, err, tt.want)
			}
		})
	}
}

// The end of the context ends a call at once, also one that waits.
func TestPCPCancel(t *testing.T) {
	p := newPCP(netip.Addr{}, netip.MustParseAddr("127.0.0.1"))
	p.server = router(t, func(int, []byte) []byte { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	if _, err := p.add(ctx, Mapping{Internal: 1}); !errors.Is(err, context.Canceled) || time.Since(start) > 1500*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestPrivate(t *testing.T) {
	for a, want := range map[string]bool{
		"10.0.0.1": true, "192.168.1.1": true, "172.16.0.1": true, "172.32.0.1": false, "100.64.0.1": true, "100.127.255.255": true,
		"100.128.0.1": false, "169.254.1.1": true, "0.0.0.0": true, "127.0.0.1": true, "224.0.0.1": true, "50.0.0.1": false,
		"fd00::1": true, "fe80::1": true, "2600::1": false,
	} {
		if got := Private(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
}
