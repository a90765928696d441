package main

import "testing"

func TestParseSeed(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "7": 7, "010": 10, "18446744073709551615": 1<<64 - 1, "0x7": 7, "0XfF": 255, "0x000000000000000a": 10, "0xffffffffffffffff": 1<<64 - 1,
	} {
		if n, err := parseSeed(text); err != nil || n != want {
			t.Errorf("%s is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "ff", "0x", "x7", "-1", "+1", "0x-1", "0x1_0", "18446744073709551616", "0x10000000000000000"} {
		if n, err := parseSeed(text); err == nil {
			t.Errorf("%q passed as %d", text, n)
		}
	}
}
