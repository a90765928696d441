// Package cpace is the balanced PAKE that turns the four to eight symbols of a
// lobby code into a strong shared key: CPACE-RISTR255-SHA512 of
// draft-irtf-cfrg-cpace-21 in the initiator/responder setting with explicit key
// confirmation. The host is the initiator (A), the joiner the responder (B).
//
//	host (Initiator)                                joiner (Respond)
//	ya random, Ya = ya*g   ---- Ya, ADa --->        yb random, Yb = yb*g
//	                                                K = yb*Ya, ISK, mac_key
//	                       <--- Yb, ADb, Tb ----    Tb = HMAC(mac_key, Yb, ADb)
//	K = ya*Yb, ISK, mac_key
//	Tb wrong: a failed guess, nothing is sent
//	Ta = HMAC(mac_key, Ya, ADa)  ---- Ta ---->      Ta wrong: nobody honest is there
//
// with
//
//	g       = one_way_map(SHA-512(lv_cat("CPaceRistretto255", PRS, zero pad, CI, sid)))
//	ISK     = SHA-512(lv_cat("CPaceRistretto255_ISK", sid, K) | lv_cat(Ya, ADa) | lv_cat(Yb, ADb))
//	mac_key = SHA-512("CPaceMac" | sid | ISK)
//
// The joiner confirms first and the types enforce it: an Initiator has no Ta
// until it has seen a right Tb. So who does not know the code learns nothing
// from a run, and every run in which it bets on a code is visible to the host.
// Secrets (ya, yb, K, mac_key) are overwritten as soon as they have served; Go
// may have copied them before, so this narrows the window and does not close it.
//
// A value belongs to one goroutine. Nothing here reads clocks or sockets.
package cpace
