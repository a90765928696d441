//go:build !race

package main

const frames = 30000
