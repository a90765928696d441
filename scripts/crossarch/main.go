// Command crossarch shows that the game is the same on every architecture: it builds the tests of sim and rollback for each, runs
// them under emulation where that is needed, and compares the digests that the corpus of golden matches comes to.
//
//	go run ./scripts/crossarch [-subset] [-only 386,s390x]
//
//	            amd64   386   arm64   riscv64   s390x   wasm
//	word size     64     32      64        64      64     64
//	byte order   little little little    little     big little
//	run by      itself itself  qemu      qemu    qemu   node
//	race         yes      -       -         -       -      -
//
// It needs Linux on amd64, the emulators of Debian's qemu-user, and node. With -subset, which continuous integration uses,
// 386 runs all tests and arm64, s390x and, if there is a node, wasm only the corpus. The exit code is 1 if any test fails or two
// digests differ.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

func main() {
	subset := flag.Bool("subset", false, "only what fits into continuous integration")
	only := flag.String("only", "", "targets, separated by commas; all if empty")
	flag.Parse()
	if err := run(*subset, *only); err != nil {
		fmt.Fprintln(os.Stderr, "crossarch:", err)
		os.Exit(1)
	}
}

func run(subset bool, only string) error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("this is %s on %s; the emulators of qemu-user and 386 programs run on linux on amd64", runtime.GOOS, runtime.GOARCH)
	}
	todo, skipped, err := choose(targets(), subset, only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "crossarch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packages, err := list()
	if err != nil {
		return err
	}
	var rows []row
	for _, t := range todo {
		r, err := t.test(dir, packages, subset && !t.whole)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, r.line())
		for _, f := range r.failed {
			fmt.Fprintln(os.Stderr, f)
		}
		rows = append(rows, r)
	}
	fmt.Println(heading)
	for _, r := range rows {
		fmt.Println(r.line())
	}
	for _, s := range skipped {
		fmt.Println(s)
	}
	return verdict(rows)
}

// verdict tells whether everything passed and came to one digest.
func verdict(rows []row) error {
	var faults []string
	digest := ""
	for _, r := range rows {
		switch {
		case len(r.failed) > 0:
			faults = append(faults, fmt.Sprintf("%s: %d packages fail", r.target, len(r.failed)))
		case r.digest == "":
			faults = append(faults, r.target+" has played no corpus")
		case digest == "":
			digest = r.digest
		case r.digest != digest:
			faults = append(faults, fmt.Sprintf("%s comes to %s, the ones before it to %s", r.target, r.digest, digest))
		}
	}
	if len(rows) == 0 {
		faults = append(faults, "nothing was run")
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}
