package main

import (
	"unsafe"

	_ "github.com/xtaci/kcp-go/v5"
)

// kcp-go keeps its code to itself, and driving a whole session would measure the session. So its functions are called by
// name; kcp.s makes the compiler accept functions without a body.

//go:linkname kcpNewEncoder github.com/xtaci/kcp-go/v5.newFECEncoder
func kcpNewEncoder(data, parity, offset int) unsafe.Pointer

//go:linkname kcpEncode github.com/xtaci/kcp-go/v5.(*fecEncoder).encode
func kcpEncode(e unsafe.Pointer, b []byte, rto uint32) [][]byte

//go:linkname kcpNewDecoder github.com/xtaci/kcp-go/v5.newFECDecoder
func kcpNewDecoder(data, parity int) unsafe.Pointer

//go:linkname kcpDecode github.com/xtaci/kcp-go/v5.(*fecDecoder).decode
func kcpDecode(d unsafe.Pointer, b []byte) [][]byte

// kcpHeader is what kcp-go puts before the data: sequence, type, and the length that its code protects too.
const kcpHeader = 8
