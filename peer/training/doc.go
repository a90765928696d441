// Package training is the training room's engine: the real simulation with a
// dummy, without a clock, a page or a network.
//
//	latency, jitter, loss and rollback all 0:
//
//	    words ──> World.Step
//
//	else two real sessions in one process, and a pipe of virtual time between:
//
//	    words ──> Driver (player) ══ delay, jitter, loss ══> Driver (dummy) <── dummy
//	                   └─ what is shown: predictions, rollbacks and all
//
// Recording a slot hands the player the dummy's controls; playing it back
// loops, mirrored if the fighters have changed sides.
package training
