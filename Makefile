# make test is the test command: it sets up what it needs and runs everything.
GO ?= go
PKG ?= ./...

.PHONY: build test tools soak bench bench-traces bench-check bench-results fuzz screenshots clean

build: ## bin/preface: static, stripped, reproducible
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/preface ./cmd/proxy

test: tools ## vet and test with the race detector
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet $(PKG)
ifeq ($(PKG),./...) # the SDKs' tests are a module of their own
	cd internal/sdktest && $(GO) vet ./...
endif
	@# go test shows no output of packages that pass; which servers the log met is to be seen
	@said=$$(CGO_ENABLED=1 $(GO) test -race -count=1 -run '^TestServers$$' -v ./internal/redistest) || { echo "$$said"; exit 1; }; \
		echo "$$said" | sed -n 's/.*_test.go:[0-9]*: /tested against /p'
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $(PKG)
ifeq ($(PKG),./...)
	cd internal/sdktest && CGO_ENABLED=1 $(GO) test -race ./...
endif

HAVE_CC = command -v $${CC:-gcc} >/dev/null
HAVE_REDIS = { command -v "$${PREFACE_REDIS:-redis-server}" || command -v valkey-server; } >/dev/null

# The race detector needs a C compiler, the log's tests real Redis servers; two
# tests of failing disks use strace. Without promtool the alert rules are not
# checked by it; no other test needs it.
tools: ## install what the tests need, as root
	@missing=; \
	$(HAVE_CC) || missing='gcc libc6-dev'; \
	command -v strace >/dev/null || missing="$$missing strace"; \
	$(HAVE_REDIS) || missing="$$missing redis-server"; \
	[ -z "$$missing" ] || .ci/install $$missing || echo cannot install $$missing
	@command -v promtool >/dev/null || .ci/install prometheus || echo 'cannot install prometheus: its promtool checks the alert rules'
	@$(HAVE_CC) || { echo 'cannot run the tests: install a C compiler, which the race detector needs, or run as root'; exit 1; }
	@$(HAVE_REDIS) || { echo 'cannot run the tests: install redis-server (7.0 or later), which the tests of the log need, or run as root'; exit 1; }

SOAK ?= 10m
soak: tools ## agents on three replicas over Redis for SOAK, with thirty faults
	@# without the race detector, which watches the agents and not the replicas: they would ask half as much; make test has it
	PREFACE_SOAK=$(SOAK) $(GO) test -count=1 -timeout 4h -v -run '^TestI10_SoakReplicas$$' ./internal/faulttest

bench: ## Go benchmarks, with allocations
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

# Where the traces are; bench/RESULTS.md says what they are and where from.
BENCH_DATA ?= ../shared/data
BENCH_TRACES = $(BENCH_DATA)/cc_traces_rle.jsonl.gz $(BENCH_DATA)/mooncake_conversation_trace.jsonl.gz $(BENCH_DATA)/mooncake_synthetic_trace.jsonl.gz
BENCH_SESSIONS ?= 200
ECONOMICS = $(GO) run ./cmd/proxy bench economics

bench-traces:
	@for f in $(BENCH_TRACES); do [ -r $$f ] || missing="$$missing $$f"; done; \
		[ -z "$$missing" ] || { echo "cannot check the simulator: it needs$$missing (BENCH_DATA=FOLDER names another place)"; exit 1; }

RESULTS = $(ECONOMICS) -provider anthropic,openai,openai-before-5.6,gemini -made-by 'make bench-results'
bench-check: bench-traces ## the simulator beside published figures and the wire, and whether bench/RESULTS.md is current
	$(ECONOMICS) -check -provider anthropic -lifetime 5m $(BENCH_TRACES)
	$(GO) run ./cmd/proxy bench wire -trace $(firstword $(BENCH_TRACES)) -sessions $(BENCH_SESSIONS)
	@rm -rf bin/results bin/RESULTS.md && mkdir -p bin
	$(RESULTS) -o bin/results -page bin/RESULTS.md $(BENCH_TRACES)
	@rm bin/results/results.json && diff -r bench/results bin/results -x results.json && diff bench/RESULTS.md bin/RESULTS.md || \
		{ echo 'bench/RESULTS.md is not what this code finds: make bench-results'; exit 1; }

bench-results: bench-traces ## bench/RESULTS.md and its plots
	$(RESULTS) -o bench/results -page bench/RESULTS.md $(BENCH_TRACES)

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@for f in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
		for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$f); do \
			$(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$f) || exit 1; \
		done; \
	done

SCREENSHOTS ?= bin/screenshots
screenshots: ## pictures of every page, wide and as on a phone, light and dark; needs chromium
	@command -v chromium >/dev/null || .ci/install chromium fonts-dejavu-core
	$(GO) test -count=1 -run '^TestScreenshots$$' ./proxy/admin -screenshots "$(abspath $(SCREENSHOTS))"
	@ls $(SCREENSHOTS) | wc -l | xargs echo pictures in $(SCREENSHOTS):

clean:
	rm -rf bin
