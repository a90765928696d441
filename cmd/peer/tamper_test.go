package main

import (
	"crypto/sha256"
)

// tampered changes the last hash of a replay and makes the digest fit again, as somebody would who wants another result.
func tampered(b []byte) []byte {
	body := append([]byte(nil), b[:len(b)-sha256.Size]...)
	body[len(body)-1] ^= 1
	digest := sha256.Sum256(body)
	return append(body, digest[:]...)
}
