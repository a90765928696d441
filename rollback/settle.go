package rollback

// Settle is Tick for a side whose last frame is stepped: it runs the correction that is due and steps no new frame.
// The links go on as in any tick, so that the others get the inputs they still miss; their packets say no more about
// timing, so that the others do not take a side that is done for one that stalls.
func (d *Driver[S, W]) Settle(now int64) Result {
	r := d.s.Reconcile()
	d.Negotiate(now)
	d.advanced, d.settling, d.lastTick = false, true, now
	d.schedule(now)
	for _, l := range d.links {
		l.ticked(now)
	}
	return r
}

// Negotiate takes the accord on as a tick does, for a side that ticks no more while others, which may wait for the
// outcome of a change, still do. What would count from the frame after the last is not put into force.
func (d *Driver[S, W]) Negotiate(now int64) { d.negotiate(now) }

// Finish closes what is counted in groups, so that the figures that follow are those of the whole match: packets that
// parity could still have brought back count as unrecoverable. Call it when no packet will follow.
func (d *Driver[S, W]) Finish() {
	for _, l := range d.links {
		l.decoder.Flush()
	}
}
