package relay

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestConfigRefused(t *testing.T) {
	for want, c := range map[string]Config{
		"HOST:PORT":      {Listen: []string{"127.0.0.1"}},
		"0 to 65535":     {Listen: []string{":70000"}},
		"IP or IP:PORT":  {PublicAddr: "example.org"},
		"send to":        {PublicAddr: "0.0.0.0"},
		"only one":       {TLSCert: "x"},
		"printable":      {Token: "a b"},
		"does not load":  {TLSCert: "/nonexistent", TLSKey: "/nonexistent"},
		"ConnsPerSource": {Limits: Limits{ConnsPerSource: -1}},
		"RunTime":        {Limits: Limits{RunTime: -time.Second}},
		"at least 2m0s":  {Limits: Limits{IdleAfter: time.Minute}},
		"fit into":       {Limits: Limits{CodeTime: 24 * time.Hour}},
		"MaxLobbies":     {Limits: Limits{MaxLobbies: maxLobbies + 1}},
	} {
		c.Listen = append(c.Listen, "127.0.0.1:0")
		s, err := New(c)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if s != nil {
			s.Close()
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	set, err := Config{}.check()
	if err != nil {
		t.Fatal(err)
	}
	if set.Limits != DefaultLimits() || set.Listen[0] != ":3478" || set.DrainLimit != 15*time.Minute {
		t.Fatalf("%+v", set)
	}
	if set, _ := (Config{DrainLimit: -1}).check(); set.DrainLimit != 0 {
		t.Fatal("negative drain limit is", set.DrainLimit)
	}
	// A field that is added without a default would be refused here.
	if err := (Limits{}).withDefaults().valid(); err != nil {
		t.Fatal(err)
	}
}

func TestListenTaken(t *testing.T) {
	s, err := New(Config{Listen: []string{"127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = New(Config{Listen: []string{s.Addrs()[0].String()}})
	if !errors.Is(err, ErrListen) || errors.Is(err, ErrConfig) {
		t.Fatal(err)
	}
}
