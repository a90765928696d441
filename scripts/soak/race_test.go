//go:build race

package main

// The race detector makes a frame twenty times as long.
const frames = 3000
