// Package rules holds the rules of this repository as ordinary tests: go test ./scripts/rules runs them all.
//
//	tracked files ──┬─> gofmt, file sizes, names           format_test.go
//	                ├─> package comments, import floors    packages_test.go
//	                ├─> modules of go.mod                  modules_test.go
//	                ├─> docs/claims.md, links              docs_test.go
//	sim, rollback ──┴─> TestDeterminismGuard               determinism_test.go
//
// A rule that has to bend is bent here, in a named list with a reason, never at the place that breaks it.
package rules
