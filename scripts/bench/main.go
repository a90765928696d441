// Command bench (make relaybench) loads the relay and two TURN servers with the same synthetic matches and prints what each of
// them costs:
//
//	 one core (-server-cpu)                        the other cores
//	┌────────────────────────────┐   loopback    ┌───────────────────────────────────────────────┐
//	│ relay | coturn | pion/turn │ <───────────> │ pairs of sockets: A ── server ── B, both ways │
//	└────────────────────────────┘               │ payload: send time | 100 bytes in all         │
//	  CPU time from /proc/PID/task/*/schedstat   └───────────────────────────────────────────────┘
//	  memory from /proc/PID/status               one-way delay: kernel receive time - send time
//
// A match over the relay is one channel with two registered sides. Over TURN it is one allocation with a channel bound to the
// other player's own address: the cheapest way TURN has, with one hop and one file descriptor. CPU figures of a shared machine
// are worth little by themselves; the rows of one run are taken one after the other, so that their ratios mean something. On a
// busy machine run it as root with RELAYBENCH_WITH="chrt -r 1": what else runs then waits. Not with -f: threads that share a
// processor and never take turns would stand behind one that spins.
//
// It has its own module, so that what Backstep is compared with is no dependency of Backstep.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	servers   string
	rate      int
	pairs     int
	seconds   time.Duration
	sessions  int
	rounds    int
	serverCPU int
	payload   int
	soak      time.Duration
	matches   int
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.servers, "servers", "backstep,coturn,pion", "which to run, in this order")
	flag.IntVar(&o.rate, "rate", 20000, "datagrams a second of the latency run")
	flag.IntVar(&o.pairs, "pairs", 100, "matches of the latency and flood runs")
	flag.DurationVar(&o.seconds, "time", 5*time.Second, "how long each run takes")
	flag.IntVar(&o.sessions, "sessions", 10000, "idle sessions of the memory run, 0 leaves it out")
	flag.IntVar(&o.rounds, "rounds", 3, "how often all servers are measured, one after the other; the table shows medians")
	flag.IntVar(&o.serverCPU, "server-cpu", 0, "the processor the server runs on, the load runs on the others; -1: both on all")
	flag.IntVar(&o.payload, "payload", 100, "bytes a player sends, 16 to 1200")
	flag.DurationVar(&o.soak, "soak", 0, "instead of the table: run -matches over each server for so long")
	flag.IntVar(&o.matches, "matches", 1000, "simultaneous matches of the soak, 60 datagrams a second each way")
	flag.Parse()
	if err := bench(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(o *options) error {
	if err := prepare(o); err != nil {
		return err
	}
	names := strings.Split(o.servers, ",")
	if o.soak > 0 {
		for _, name := range names {
			if err := soak(o, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	all := map[string][]result{}
	direct := []result{}
	for round := range o.rounds {
		d, err := runDirect(o)
		if err != nil {
			return fmt.Errorf("without a server: %w", err)
		}
		direct = append(direct, d)
		for _, name := range names {
			r, err := runServer(o, name, round == 0)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if prev := all[name]; len(prev) > 0 {
				r.idle = prev[0].idle
			}
			all[name] = append(all[name], r)
			fmt.Fprintf(os.Stderr, "round %d, %s\n", round+1, r.line(name))
		}
	}
	printTable(os.Stdout, o, names, all, direct)
	return nil
}
