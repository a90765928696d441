// Package determinism finds what could make two machines step the same frame to different states.
//
// A rollback session is only as good as its simulation: one float that rounds differently, one map whose order shows,
// one read of the clock, and the players drift apart. The check reads packages with full type information, so that a
// float that comes back from a call, or a map behind a type parameter, is seen as well as one that is spelled out.
//
//	go/packages ──> syntax + types of each package, test files aside
//	                  │
//	                  ├─ imports      time, math, os, sync, loggers …
//	                  ├─ expressions  float and complex types, channels
//	                  ├─ statements   go, select, send, range over a map
//	                  ├─ calls        fmt outside building errors, print
//	                  └─ variables    package level: only errors, embedded data, tables nobody writes
//	                  │
//	                  └─> Finding: file, line, what it is, what to use instead
//
// A table may be handed to a function of the checked packages whose body only reads it, and a local variable may point
// into it as long as it is only read through. A table behind a pointer to a
// struct seals the type: only the package that declares it may write through it, which it does while it builds one.
//
// Two ways round it are left to the reader of the code: a struct copied out of a table that has slices of its own, and
// a method with a value receiver on a table of slice type, may write the memory they share with it.
package determinism

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// Finding is one place that the rule forbids.
type Finding struct {
	File    string // as the file was found: absolute
	Line    int
	What    string // what stands there
	Instead string // what to use instead
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s; use instead: %s", f.File, f.Line, f.What, f.Instead)
}

// Result is what Check saw.
type Result struct {
	Packages []string // import paths, sorted
	Findings []Finding
}

// Check loads the packages that patterns name, seen from dir, and reports what they may not hold. overlay maps absolute
// file names to contents that take the place of what is on disk, or of nothing. Files ending in _test.go are not read.
// Packages that do not type-check are an error: what cannot be understood cannot be vouched for.
func Check(dir string, overlay map[string][]byte, patterns ...string) (Result, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: dir, Overlay: overlay}, patterns...)
	if err != nil {
		return Result{}, fmt.Errorf("load %v: %w", patterns, err)
	}
	var broken []error
	for _, p := range loaded {
		if len(p.Errors) > 0 { // the first is the cause, or as good as any
			broken = append(broken, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0]))
		}
	}
	if len(broken) > 0 {
		return Result{}, errors.Join(broken...)
	}

	c := checker{
		seen: map[Finding]bool{}, tables: map[string]bool{}, sealed: map[string]bool{},
		functions: map[string]function{}, read: map[types.Object]bool{},
	}
	for _, c.pkg = range loaded {
		c.packages = append(c.packages, c.pkg.PkgPath)
		for _, file := range c.pkg.Syntax {
			c.declarations(file)
		}
	}
	for _, c.pkg = range loaded {
		for _, file := range c.pkg.Syntax {
			c.imports(file)
			walk(file, c.node)
		}
	}
	slices.Sort(c.packages)
	slices.SortFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return Result{Packages: c.packages, Findings: c.findings}, nil
}

// checker holds the state of one run; pkg is the package being read.
type checker struct {
	pkg       *packages.Package
	packages  []string
	tables    map[string]bool       // package-level variables that stand as long as nobody writes them: path.Name
	sealed    map[string]bool       // struct types that only their package may write: path.Name
	functions map[string]function   // the functions being checked, by full name
	read      map[types.Object]bool // parameters: is their memory only read
	seen      map[Finding]bool
	findings  []Finding
}

// function is a function with a body and the package it is in.
type function struct {
	decl *ast.FuncDecl
	pkg  *packages.Package
}

// report adds a finding, once for each line and kind.
func (c *checker) report(at ast.Node, instead, format string, args ...any) {
	p := c.pkg.Fset.Position(at.Pos())
	f := Finding{File: p.Filename, Line: p.Line, What: fmt.Sprintf(format, args...), Instead: instead}
	if !c.seen[f] {
		c.seen[f] = true
		c.findings = append(c.findings, f)
	}
}
