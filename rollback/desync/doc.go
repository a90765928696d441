// Package desync is what two players do when their confirmed states differ: they stop, find the first frame and the first
// bytes that differ, keep the evidence, and try to go on together.
//
//	     hash differs, or FOUND                  both settled             first differing label found
//	Idle ──────────────────────▶ Meeting ──────────────────▶ Searching ──────────────────────▶ Comparing
//	 ▲ ▲                                                         │ nothing differs any more        │ both have both states:
//	 │ └─────────────────────────────────────────────────────────┘                                 │ evidence
//	 │                    equal: recovered                                                         ▼
//	 ├────────────────────────────────────────────────────────────────────────────────────── Replaying
//	 │   equal: the guest plays on with the host's state                                           │ differ again
//	 └──────────────────────────────── Adopting ◀──── accepted ──── Offering ◀─────────────────────┤ unranked, not used yet
//	                                                                   │ declined, silent          │ ranked, or used
//	                                                                   └────────▶ Failed ◀─────────┘
//
// A Resolver is one side of that. It knows neither the game nor a network: states are bytes that a Side gives and takes,
// messages go through a function that carries them reliably and in order. Both sides compute the same labels from the
// same messages, so nobody leads; only the offer of a state is the host's.
//
// Messages, little-endian; round numbers the desyncs of a match from 1 on:
//
//	0       1       2
//	+-------+-------+------------------------------------------------------------------------+
//	| kind  | round | FOUND    16  newest i32 | agreed i32 | build 0…64 bytes                 |
//	|   1   |   1   | PROBE    17  low i32 | high i32 | known u32 | hash u64 for each label    |
//	|       |       | PART     18  label i32 | total u32 | offset u32 | up to 1024 bytes         |
//	|       |       | REPLAYED 19  label i32 | hash u64                                         |
//	|       |       | OFFER    20  label i32 | hash u64                                         |
//	|       |       | ANSWER   21  0 no, 1 yes                                                  |
//	+-------+-------+------------------------------------------------------------------------+
//
// The labels of a PROBE lie in (low, high]: all of them, or MaxProbes that are spread evenly.
//
// One goroutine owns a Resolver. It allocates only while a desync is open.
package desync
