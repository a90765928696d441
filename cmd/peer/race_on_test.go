//go:build race

package main

// racing says that the tests run under the race detector, which needs cgo.
const racing = true
