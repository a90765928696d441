# Backstep. `make` alone lists the targets; only Go is needed for build, play, test, bench, fuzz, dist and cross.

GO      ?= go
FUZZTIME ?= 10s
FUZZ    ?=
BENCH   ?= .
FRAMES  ?= 1000000
DURATION ?= 15m
N       ?= 100000
BUILD   ?= $(shell git -c safe.directory='*' describe --tags --always --dirty --abbrev=12 2>/dev/null)

# The id is linked in explicitly; asking git again from inside go fails on a tree that belongs to another user.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)
export CGO_ENABLED ?= 0

LDFLAGS := -s -w -X main.build=$(BUILD)
TARGETS := linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64
CROSS   := windows/amd64 darwin/arm64 linux/arm64

.PHONY: help build play test race bench lint relaybench fuzz cross dist natlab netbench linkbench fecbench linksoak pagetest pagebench film golden crossarch crossarch-subset roundrobin soak planted simsoak clean

help:
	@echo "make build   bin/peer and bin/relay, static"
	@echo "make play    build, then watch a match against the machine: relay, two players, everything here"
	@echo "make test    vet and all tests; needs nothing but Go"
	@echo "make race    all tests under the race detector (needs a C compiler)"
	@echo "make bench   benchmarks with allocation counts (BENCH=regexp)"
	@echo "make lint    gofmt, go vet, staticcheck"
	@echo "make relaybench  the relay against coturn and pion/turn (apt-get install coturn; RELAYBENCH=flags)"
	@echo "make fuzz    every fuzz target for FUZZTIME=$(FUZZTIME) (FUZZ='rollback/wire ' those of one package)"
	@echo "make cross   build and vet for $(CROSS) without cgo"
	@echo "make natlab  the real programs between every pair of networks, what happens to running matches, and tables; as root on Linux (NATLAB='-set key -rtt 60ms')"
	@echo "make netbench  every scenario of the shared network model beside the reference figures; fails on a missed target"
	@echo "make linkbench  late inputs and bytes under loss, bursts and recorded networks, for each way of repairing; snapshots likewise"
	@echo "make fecbench  the packet code beside kcp-go's and reedsolomon alone, in one process"
	@echo "make golden  write the corpus of golden matches anew (REASON='what changed the game')"
	@echo "make crossarch  the game on six architectures, all hashes equal (apt-get install qemu-user nodejs)"
	@echo "make roundrobin  who wins how often: bots, every pairing, both sides, 200 matches each"
	@echo "make soak    N=$(N) simulated matches over networks that fail in every way (SOAK='-seed 7 -trace FILE')"
	@echo "make planted  bugs planted in a copy of the rollback core: the soak must find each within a minute"
	@echo "make linksoak  two real peers at 20 % loss for DURATION=$(DURATION), then ten hours of it in virtual time"
	@echo "make simsoak  a million frames of random inputs under every ruleset (FRAMES=$(FRAMES))"
	@echo "make pagebench what the page costs the match loop: tick times without it, with a tab, with a tab that never reads"
	@echo "make film      the animation of the README, from a match between two bots (needs what pagetest needs)"
	@echo "make pagetest  the page in a real browser (apt-get install chromium nodejs npm)"
	@echo "make dist    archives for $(TARGETS) and their SHA-256 sums in dist/"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/peer ./cmd/peer
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/relay ./cmd/relay

# Where no screen is, the machine plays against itself and the terminal shows how it goes.
play: build
	@if [ "$$(uname)" = Linux ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
		echo "no display here, so two bots play one match; bin/peer play serves the page"; \
		bin/peer play --headless; \
	else bin/peer play; fi

test:
	$(GO) vet ./...
	$(GO) test ./...

race:
	CGO_ENABLED=1 $(GO) test -race ./...

bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

lint:
	@unformatted=$$(git -c safe.directory='*' ls-files -z '*.go' | xargs -0 gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w these:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Its own module: what the relay is compared with is no dependency of Backstep.
relaybench:
	cd scripts/bench && $(GO) build -o ../../bin/relaybench .
	$(RELAYBENCH_WITH) bin/relaybench $(RELAYBENCH)

fecbench:
	cd scripts/bench && $(GO) build -o ../../bin/fecbench ./fecbench
	bin/fecbench

fuzz:
	GO='$(GO)' sh scripts/fuzz.sh $(FUZZTIME) '$(FUZZ)'

cross:
	@set -e; for target in $(CROSS); do \
		echo "cross $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./...; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) vet ./...; \
	done

dist:
	$(GO) run ./scripts/dist -build '$(BUILD)' -out dist $(TARGETS)

natlab:
	$(GO) run ./scripts/natlab/matrix $(NATLAB)

netbench:
	$(GO) run ./scripts/netbench

linkbench:
	$(GO) run ./scripts/linkbench -traces scripts/linkbench/testdata

golden:
	$(GO) run ./scripts/golden

crossarch:
	$(GO) run ./scripts/crossarch

crossarch-subset:
	$(GO) run ./scripts/crossarch -subset

roundrobin:
	$(GO) run ./scripts/roundrobin -check

soak:
	$(GO) run ./scripts/matchsoak -n $(N) $(SOAK)

planted:
	$(GO) run ./scripts/matchsoak -planted scripts/matchsoak/planted -n 100000

linksoak:
	$(GO) run ./scripts/linksoak -for $(DURATION)
	$(GO) run ./scripts/linksoak -virtual 10h -every 30m

simsoak:
	$(GO) run ./scripts/soak -frames $(FRAMES)

pagetest: build
	sh scripts/pagetest/run.sh

film: build
	bin/peer play --headless --rounds 1 --input bot:hard:5 --record $${TMPDIR:-/tmp}/film.bsr --log-level error
	cd scripts/pagetest && node film.js $${TMPDIR:-/tmp}/film.bsr ../../docs/img/fight.webp

pagebench: build
	$(GO) run ./scripts/pagebench

clean:
	rm -rf bin dist
