package rollback

// Settle is Tick for a side whose last frame is stepped: it runs the correction that is due and steps no new frame.
// The links go on as in any tick, so that the others get the inputs they still miss.
func (d *Driver[S, W]) Settle(now int64) Result {
	r := d.s.Reconcile()
	d.advanced, d.lastTick = false, now
	d.schedule(now)
	for _, l := range d.links {
		l.ticked(now)
	}
	return r
}
