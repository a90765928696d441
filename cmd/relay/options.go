package main

import (
	"time"

	"backstep/cmd/internal/settings"
	"backstep/cmd/internal/version"
	"backstep/relay"
)

// options are the settings of the command.
type options struct {
	set   *settings.Set
	serve []string // the flags of relay serve
	probe []string // and of relay probe

	listen                               *[]string
	publicAddr, admin, stateDir, token   *string
	tlsCert, tlsKey, logLevel, logFormat *string
	stunOnly, pprof, logAddresses        *bool
	workers                              *int
	egress                               *byteSize
	drain                                *time.Duration
	json, version, printConfig           *bool
}

func newOptions() *options {
	s := settings.New("relay", "RELAY")
	f := s.Flags
	o := &options{
		set:          s,
		listen:       s.List("listen", []string{":3478"}, "`HOST:PORT` to serve on, UDP and TCP; port 0 picks a free one"),
		publicAddr:   f.String("public-addr", "", "`IP[:PORT]` that clients see, for a relay behind a NAT"),
		admin:        f.String("admin", "127.0.0.1:9478", "`HOST:PORT` for /healthz, /readyz and /metrics; empty turns it off"),
		pprof:        f.Bool("pprof", false, "serve /debug/pprof on the admin address"),
		stateDir:     f.String("state-dir", relay.DefaultStateDir(), "`DIR` for the relay's secret; empty keeps it in memory"),
		token:        f.String("relay-token", "", "`TOKEN` that players must send, for a private relay"),
		stunOnly:     f.Bool("stun-only", false, "answer STUN and nothing else"),
		workers:      f.Int("workers", 0, "UDP sockets and goroutines a port, `N`; 0 is one per processor"),
		egress:       new(byteSize),
		tlsCert:      f.String("tls-cert", "", "certificate `FILE` (PEM); the TCP port then speaks TLS as well"),
		tlsKey:       f.String("tls-key", "", "key `FILE` (PEM) of the certificate"),
		drain:        f.Duration("drain", 15*time.Minute, "how long running matches may go on after SIGTERM"),
		logAddresses: f.Bool("log-addresses", false, "log whole addresses instead of networks"),
		logLevel:     f.String("log-level", "info", "`LEVEL`: trace, debug, info, warn, error or disabled"),
		logFormat:    f.String("log-format", "console", "`FORMAT`: json or console"),
		json:         f.Bool("json", false, "probe: answer as JSON"),
		version:      f.Bool("version", false, "print the version and exit"),
		printConfig:  f.Bool("print-config", false, "print every setting with its source and exit"),
	}
	f.Var(o.egress, "egress-budget", "`BYTES` that may be sent in a calendar month, such as 500GB; then STUN only; 0 is no budget")
	s.File("config", "", "`FILE` of lines \"flag value\"")
	s.Secret("relay-token")
	s.LineOnly("version", "print-config", "json")
	o.probe = []string{"json", "relay-token"}
	o.serve = []string{"listen", "public-addr", "admin", "pprof", "state-dir", "relay-token", "stun-only", "workers", "egress-budget", "tls-cert",
		"tls-key", "drain", "log-addresses", "log-level", "log-format"}
	return o
}

// config is what the settings mean to the relay, apart from the logger.
func (o *options) config() relay.Config {
	c := relay.Config{
		Listen:       *o.listen,
		PublicAddr:   *o.publicAddr,
		Admin:        *o.admin,
		Pprof:        *o.pprof,
		StateDir:     *o.stateDir,
		Token:        *o.token,
		StunOnly:     *o.stunOnly,
		Workers:      *o.workers,
		EgressBudget: uint64(*o.egress),
		TLSCert:      *o.tlsCert,
		TLSKey:       *o.tlsKey,
		DrainLimit:   *o.drain,
		LogAddresses: *o.logAddresses,
		Version:      version.Build(build),
	}
	if c.DrainLimit <= 0 {
		c.DrainLimit = -1
	}
	return c
}
