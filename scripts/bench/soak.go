package main

import (
	"fmt"
	"time"
)

// soak runs many matches over a server at the pace of the game for a long time and prints what was lost, how late the rest
// was, and what the server used, minute by minute.
func soak(o *options, name string) error {
	s, err := startServer(o, name)
	if err != nil {
		return err
	}
	defer s.stop()
	all, err := connect(name, s.addr, 0, o.matches)
	if err != nil {
		return err
	}
	defer closeAll(all)
	pid := s.cmd.Process.Pid
	rate := o.matches * 120
	fmt.Printf("%s: %d matches, %d datagrams/s of %d bytes, for %v\n", name, o.matches, rate, o.payload, o.soak)
	sentAll, gotAll := 0, 0
	for start := time.Now(); time.Since(start) < o.soak; {
		before, began := cpuTime(pid), time.Now()
		sent, d, err := paced(all, o.payload, rate, min(time.Minute, o.soak))
		if err != nil {
			return err
		}
		used, took := cpuTime(pid)-before, time.Since(began)
		sentAll, gotAll = sentAll+sent, gotAll+len(d)
		fmt.Printf("%5.0f s: %.0f/s sent, lost %.4f %%, delay p50 %.0f p99 %.0f p99.9 %.0f us, processor %.0f %%, %.2f us a datagram, resident %.1f MB\n",
			time.Since(start).Seconds(), float64(sent)/took.Seconds(), 100*(1-float64(len(d))/float64(max(1, sent))), d.at(.5), d.at(.99), d.at(.999),
			100*used.Seconds()/took.Seconds(), float64(used.Nanoseconds())/1000/float64(max(1, len(d))), memory(pid)/1e6)
	}
	fmt.Printf("%d datagrams sent, %d lost (%.4f %%)\n", sentAll, sentAll-gotAll, 100*(1-float64(gotAll)/float64(max(1, sentAll))))
	return nil
}
