//go:build race

package main

// The race detector makes a match ten times as long.
const matches = 30
