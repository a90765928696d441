//go:build unix

package exit

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestSignals(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		want   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			ignore := goleak.IgnoreCurrent()
			ended := make(chan int, 1)
			ctx, stop := watch(context.Background(), func(code int) { ended <- code })
			if err := syscall.Kill(syscall.Getpid(), tt.signal); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
				t.Fatal("the first signal did not cancel the context")
			}
			if got := Code(context.Cause(ctx)); got != tt.want {
				t.Errorf("code %d, want %d", got, tt.want)
			}
			select {
			case code := <-ended:
				t.Fatalf("the first signal ended the process with %d", code)
			default:
			}
			if err := syscall.Kill(syscall.Getpid(), tt.signal); err != nil {
				t.Fatal(err)
			}
			select {
			case code := <-ended:
				if code != tt.want {
					t.Errorf("second signal: code %d, want %d", code, tt.want)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("the second signal did not end the process")
			}
			stop()
			// The signal package keeps one goroutine of its own for the life of the process.
			goleak.VerifyNone(t, ignore, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreAnyFunction("os/signal.loop"))
		})
	}
}

func TestStopWithoutSignal(t *testing.T) {
	ctx, stop := Signals(context.Background())
	stop()
	var s Signal
	if !errors.Is(context.Cause(ctx), context.Canceled) || errors.As(context.Cause(ctx), &s) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}
