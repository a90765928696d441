package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"backstep/peer/impair"
)

// options are the flags, as far as they change what is played.
type options struct {
	first   uint64
	n       int
	frames  int
	jobs    int
	without faults
	files   []string
	traces  []*impair.Trace
}

func main() {
	o := options{}
	flag.IntVar(&o.n, "n", 100_000, "matches")
	flag.Uint64Var(&o.first, "seed", 1, "seed of the first match; the next has the next")
	flag.IntVar(&o.frames, "frames", 120, "frames all players must settle, 1 to 100000")
	flag.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "matches at a time")
	without := flag.String("without", "", "faults to leave out, separated by commas: "+strings.Join(faultNames[:], " "))
	planted := flag.String("planted", "", "plant each bug of this folder in a copy of the module and look whether it is found")
	flag.Func("trace", "a recorded network, t_ms,one_way_delay_ms,lost; half of the ways follow one of those given", func(path string) error {
		t, err := impair.ReadTrace(path)
		if err == nil {
			o.traces, o.files = append(o.traces, t), append(o.files, path)
		}
		return err
	})
	flag.Parse()
	var err error
	if o.without, err = parseFaults(*without); err != nil {
		usage(err)
	}
	if flag.NArg() > 0 || o.n < 1 || o.frames < 1 || o.frames > 100_000 || o.jobs < 1 {
		usage(fmt.Errorf("-n, -jobs and -frames must be at least 1, -frames at most 100000, and there are no arguments"))
	}
	if *planted != "" {
		if err := plantAll(os.Stdout, ".", *planted, o.n); err != nil {
			fmt.Fprintln(os.Stderr, "matchsoak:", err)
			os.Exit(1)
		}
		return
	}
	r := soak(o)
	fmt.Println(r)
	if f := r.failed; f != nil {
		fmt.Printf("FAILED seed %d: %v\n", f.seed, f.err)
		small := reduce(o, f.seed)
		fmt.Printf("reduced: %v\nrepeat it: %s\n", small.err, small.command(o.files))
		os.Exit(1)
	}
	if r.grown() {
		fmt.Printf("FAILED bounded: %d KB were live after the first matches, %d KB at the end\n", r.liveFirst>>10, r.liveLast>>10)
		os.Exit(1)
	}
}

func usage(err error) {
	fmt.Fprintln(os.Stderr, "matchsoak:", err)
	os.Exit(2)
}
