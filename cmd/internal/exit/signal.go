package exit

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Signal is the cause of a context that a signal cancelled.
type Signal struct{ Signal os.Signal }

func (s Signal) Error() string { return "ended by signal: " + s.Signal.String() }

// ExitCode is 130 after an interrupt and 143 after a termination request, as a shell would report them.
func (s Signal) ExitCode() int {
	if s.Signal == syscall.SIGTERM {
		return 143
	}
	return 130
}

// Signals returns a context that the first SIGINT or SIGTERM cancels with a Signal as its cause (context.Cause).
// A second one ends the process at once with the code of that signal. stop gives the signals back to their default
// handling and ends the one goroutine this started; call it when the program has said its goodbyes.
func Signals(parent context.Context) (ctx context.Context, stop func()) {
	return watch(parent, os.Exit)
}

func watch(parent context.Context, end func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for first := true; ; first = false {
			select {
			case s := <-c:
				if !first {
					end(Signal{s}.ExitCode())
					return
				}
				cancel(Signal{s})
			case <-quit:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(c)
		close(quit)
		<-done
		cancel(context.Canceled)
	}
}
