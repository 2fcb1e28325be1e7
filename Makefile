# make test is the test command: it sets up what it needs and runs everything.
GO ?= go
PKG ?= ./...

.PHONY: build test tools bench fuzz clean

build: ## bin/preface: static, stripped, reproducible
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/preface ./cmd/proxy

test: tools ## vet and test with the race detector
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet $(PKG)
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $(PKG)
ifeq ($(PKG),./...) # the SDKs' tests are a module of their own
	cd internal/sdktest && $(GO) vet ./... && CGO_ENABLED=1 $(GO) test -race ./...
endif

tools: ## the race detector needs a C compiler; two tests of failing disks use strace
	@command -v $${CC:-gcc} >/dev/null && command -v strace >/dev/null || { \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev strace; } \
	|| echo 'cannot install gcc and strace here'
	@command -v $${CC:-gcc} >/dev/null || { echo 'cannot run the tests: install a C compiler, which the race detector needs, or run as root'; exit 1; }

bench: ## Go benchmarks, with allocations
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@for f in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
		for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$f); do \
			$(GO) test -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$f) || exit 1; \
		done; \
	done

clean:
	rm -rf bin
