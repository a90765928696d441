package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// DET-11: a digest that differs, a test that fails and a target that has played nothing are each a fault.
func TestVerdict(t *testing.T) {
	good := []row{{target: "a", digest: "1"}, {target: "b", digest: "1"}}
	if err := verdict(good); err != nil {
		t.Fatal(err)
	}
	for want, rows := range map[string][]row{
		"c comes to 2":         append(good[:2:2], row{target: "c", digest: "2"}),
		"c has played":         append(good[:2:2], row{target: "c"}),
		"c: 1 packages fail":   append(good[:2:2], row{target: "c", digest: "1", failed: []string{"p"}}),
		"nothing was run":      nil,
		"b: 2 packages fail; ": {{target: "b", failed: []string{"p", "q"}}, {target: "c"}},
	} {
		if err := verdict(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The targets are those of the requirement; a missing emulator is named, and only wasm may be missing, and only in the subset.
func TestChoose(t *testing.T) {
	names := func(list []target) string {
		var s []string
		for _, t := range list {
			s = append(s, t.name)
		}
		return strings.Join(s, " ")
	}
	if got := names(targets()); got != "amd64 386 arm64 riscv64 s390x wasm" {
		t.Fatal(got)
	}
	t.Setenv("PATH", t.TempDir())
	if _, _, err := choose(targets(), false, ""); err == nil || !strings.Contains(err.Error(), "qemu-aarch64") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"qemu-aarch64", "qemu-s390x-static", "qemu-riscv64"} {
		if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	todo, skipped, err := choose(targets(), true, "")
	if err != nil || names(todo) != "386 arm64 s390x" || len(skipped) != 1 {
		t.Errorf("%s %q %v", names(todo), skipped, err)
	}
	if _, _, err := choose(targets(), false, ""); err == nil || !strings.Contains(err.Error(), "node") {
		t.Errorf("%v", err)
	}
	if todo, _, err := choose(targets(), false, "386,riscv64"); err != nil || names(todo) != "386 riscv64" {
		t.Errorf("%s %v", names(todo), err)
	}
	if _, _, err := choose(targets(), false, "386,vax"); err == nil || !strings.Contains(err.Error(), "vax") {
		t.Errorf("%v", err)
	}
}

func TestTail(t *testing.T) {
	if got := tail([]byte("=== RUN   A\n--- PASS: A (0.1s)\n    a_test.go:1: wrong\n--- FAIL: B\n")); got != "    a_test.go:1: wrong\n--- FAIL: B\n" {
		t.Errorf("%q", got)
	}
}
