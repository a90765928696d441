//go:build !race

package main

const matches = 300
