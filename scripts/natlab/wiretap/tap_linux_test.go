package wiretap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"backstep/scripts/natlab/netns"
)

// A tap records every packet once, in order, whole, with the time it passed, and from no other interface.
func TestTap(t *testing.T) {
	if os.Getenv("BACKSTEP_NETNS") != "1" {
		t.Skip("needs network namespaces: set BACKSTEP_NETNS=1 as root")
	}
	name := fmt.Sprintf("tap%d", os.Getpid())
	for _, args := range [][]string{{"netns", "add", name}, {"-n", name, "link", "set", "lo", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })

	if _, err := Open(Config{Namespace: name, Interfaces: []string{"nothing0"}}); err == nil || !strings.Contains(err.Error(), "nothing0") {
		t.Errorf("an interface that does not exist: %v", err)
	}
	deaf, err := Open(Config{Namespace: name})
	if err != nil {
		t.Fatal(err)
	}
	tap, err := Open(Config{Namespace: name, Interfaces: []string{"lo"}, Incoming: true})
	if err != nil {
		t.Fatal(err)
	}
	var receiver, sender *net.UDPConn
	err = netns.Do(name, func() (err error) {
		if receiver, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err == nil {
			sender, err = net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	defer sender.Close()

	const packets = 500
	begin := time.Now()
	awaited := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		awaited <- tap.Await(ctx, packets/10, func(p *Packet) bool { return strings.HasSuffix(string(p.Payload), "7") })
	}()
	for len(tap.Packets()) == 0 { // until Await has surely begun
		fmt.Fprint(sender, "first")
		time.Sleep(20 * time.Millisecond)
	}
	for i := range packets {
		fmt.Fprint(sender, i)
	}
	if err := <-awaited; err != nil {
		t.Error(err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	why := errors.New("over")
	cancel(why)
	if err := tap.Await(over, 1, func(*Packet) bool { return false }); !errors.Is(err, why) {
		t.Errorf("awaiting nothing: %v", err)
	}
	// The last packet is in the socket when it was sent; give the reader the time to take it.
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got := tap.Packets(); string(got[len(got)-1].Payload) == fmt.Sprint(packets-1) {
			break
		}
	}
	all, err := tap.Close()
	if err != nil {
		t.Error(err)
	}
	i := 0
	for _, p := range all {
		if string(p.Payload) == "first" {
			continue
		}
		if string(p.Payload) != fmt.Sprint(i) || p.Interface != "lo" || p.Protocol != UDP || p.Dst.String() != receiver.LocalAddr().String() {
			t.Fatalf("packet %d is %+v", i, p)
		}
		if p.At.Before(begin.Add(-time.Millisecond)) || p.At.After(time.Now().Add(time.Millisecond)) {
			t.Fatalf("packet %d passed at %v, between %v and now", i, p.At, begin)
		}
		i++
	}
	if i != packets {
		t.Errorf("%d packets, want %d", i, packets)
	}
	if all, err := deaf.Close(); err != nil || len(all) > 0 {
		t.Errorf("a tap of no interface recorded %d packets, %v", len(all), err)
	}
}
