# make test is the test command: it fetches what it needs and runs everything.
GO ?= go

.PHONY: build test lint bench fuzz clean

build: ## bin/preface, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/preface ./cmd/proxy

test:
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

clean:
	rm -rf bin
