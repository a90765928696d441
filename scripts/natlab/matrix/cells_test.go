//go:build linux

package main

import (
	"errors"
	"strings"
	"testing"
)

// Every unordered pair of kinds is a cell once, every ordered one with both, carriers on one side only; and theory does not
// depend on who hosts.
func TestPairs(t *testing.T) {
	carriers := 0
	for _, k := range kinds {
		if k.carrier != "" {
			carriers++
		}
	}
	n := len(kinds)
	want := n*(n+1)/2 - carriers*(carriers+1)/2
	once, both := pairs(false), pairs(true)
	if len(once) != want {
		t.Errorf("%d cells, want %d", len(once), want)
	}
	if plain := n - carriers; len(both) != 2*want-plain {
		t.Errorf("%d cells in both directions, want %d", len(both), 2*want-plain)
	}
	paths := map[string]string{}
	for _, c := range both {
		if _, twice := paths[c.name]; twice {
			t.Errorf("%s is there twice", c.name)
		}
		join := c.joinPath
		if join == "" {
			join = c.path
		}
		paths[c.name] = c.path + ", " + join
	}
	for name, p := range paths {
		a, b, _ := strings.Cut(name, " x ")
		h, j, _ := strings.Cut(p, ", ")
		if turned := paths[b+" x "+a]; turned != j+", "+h {
			t.Errorf("%s: %s, the other way round %s", name, p, turned)
		}
	}
	for name, want := range map[string]string{
		"port-restricted x port-restricted": "direct, direct", "port-restricted x symmetric": "relay, relay",
		"address-restricted x symmetric": "direct, direct", "symmetric x UDP blocked": "relay, tunnel",
		"UDP blocked x only TCP 443": "tunnel, tunnel", "carrier symmetric x symmetric": "relay, relay",
		"carrier cone x port-restricted": "direct, direct",
	} {
		if paths[name] != want {
			t.Errorf("%s: %s, want %s", name, paths[name], want)
		}
	}
}

// A cell that was late is played again until its median means something; one that failed or was late all five times is not.
func TestLateCellsArePlayedAgain(t *testing.T) {
	slow := errors.New("late")
	rows := []*row{
		{cell: cell{name: "in time"}, runs: 1}, {cell: cell{name: "late once"}, runs: 1, slow: slow},
		{cell: cell{name: "late five times"}, runs: 5, slow: slow}, {cell: cell{name: "failed"}, runs: 1, slow: slow, errs: []error{slow}},
	}
	again := late(rows, 5)
	if len(again) != 1 || again[0].cell.name != "late once" || again[0].runs != 5 {
		t.Errorf("%+v", again)
	}
}
