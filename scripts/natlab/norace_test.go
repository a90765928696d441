//go:build linux && !race

package natlab

const raceDetector = false
