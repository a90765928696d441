package relay

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

var (
	errStarting = errors.New("starting")
	errDraining = errors.New("draining")
	errStopped  = errors.New("stopped")
	errBroke    = errors.New("the month's egress budget is used up or nearly so")
)

// readiness returns nil if new players may be sent here.
func (s *Server) readiness(r *http.Request) error {
	switch s.state.Load() {
	case stateNew:
		return errStarting
	case stateDraining:
		return errDraining
	case stateStopped:
		return errStopped
	}
	if s.hub.broke.Load() {
		return errBroke
	}
	return s.selfProbe(r.Context())
}

// adminServer serves /healthz (the process runs), /readyz (new players may come), /metrics, and pprof if asked for. It is
// meant for loopback or a private network: it asks nobody who they are.
func (s *Server) adminServer() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.readiness(r); err != nil {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry(), promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	if s.set.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 8 << 10, ErrorLog: log.New(httpLog{s.log}, "", 0),
	}
}
