# What a person types here: make run, make test, make bench. Everything else serves these.
export CGO_ENABLED ?= 0
LDFLAGS := -s -w
CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ctxls-dev
TOOLS   := $(CACHE)/bin
# The release of staticcheck that knows this Go.
STATICCHECK_VERSION := v0.8.2
STATICCHECK := $(TOOLS)/staticcheck-$(STATICCHECK_VERSION)
GOVULNCHECK_VERSION := v1.8.0
GOVULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)

.PHONY: build run test needs unit race cover e2e fleet-test host-pictures lint cross bench fuzz release licenses generate clean vscode vscode-all vscode-test vscode-screenshots neovim-test neovim-lint neovim-pictures

build: bin/ctxls

bin/ctxls: $(shell find adapters cmd internal -name '*.go' -o -name '*.json' -o -name '*.sql' -o -name '*.bin' -o -name '*.js') go.mod go.sum
	go build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/ctxls

# A recorded session, played through the real binary.
run: build
	go run ./internal/tools/replay --bin bin/ctxls

# All that must hold. CI runs this and nothing else.
test: needs lint cross unit race cover fuzz e2e fleet-test vscode-test neovim-test

# What a fresh machine lacks.
needs:
	sh internal/tools/needs.sh

# Not from the cache: tests that build the program themselves are not run anew by it when only the program changed.
unit:
	go test -count=1 ./...

# The race detector needs a C compiler. Tests that only repeat work in one goroutine are shortened, none is left out.
race:
	CGO_ENABLED=1 go test -race -short ./...

cover:
	sh internal/tools/cover.sh internal/core 90

# With the real agent hosts, offline. Linux only: elsewhere there are no such tests.
e2e: $(STATICCHECK)
	go vet -tags e2e ./test/...
	$(STATICCHECK) -tags e2e ./test/...
	sh internal/tools/e2e.sh

# ctxls-fleet with a real PostgreSQL, collector and Prometheus. Linux only: elsewhere there are no such tests.
FLEET := ./internal/team/... ./test/fleet/...
fleet-test: $(STATICCHECK)
	go vet -tags fleet $(FLEET)
	$(STATICCHECK) -tags fleet $(FLEET)
	go test -tags fleet -count=1 -timeout 15m $(FLEET)

# Renews the documents' pictures of the hosts.
host-pictures:
	go test -tags e2e -count=1 -run '^TestPicture$$' ./test/*/ -update

# Every fuzz target, for a time that one waits for; FUZZTIME=10m to search in earnest.
FUZZTIME ?= 5s
fuzz:
	sh internal/tools/fuzz.sh $(FUZZTIME)

lint: $(STATICCHECK) $(GOVULNCHECK)
	test -z "$$(gofmt -l adapters cmd internal test)" || { gofmt -l adapters cmd internal test; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...
	go mod verify
	go run ./internal/tools/licenses > /dev/null
	go run ./internal/tools/vulns -program $(GOVULNCHECK)

$(STATICCHECK):
	GOBIN=$(TOOLS) go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) && mv $(TOOLS)/staticcheck $@

$(GOVULNCHECK):
	GOBIN=$(TOOLS) go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) && mv $(TOOLS)/govulncheck $@

# Every system that there is a release for, whatever this one is.
SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

cross:
	for target in $(SYSTEMS); do \
	  export GOOS=$${target%/*} GOARCH=$${target#*/}; \
	  go build -o /dev/null ./cmd/ctxls || { echo "$$target does not build"; exit 1; }; \
	  go vet ./... || { echo "$$target: go vet"; exit 1; }; \
	done

# The extension for VS Code: for this platform, for all that are supported, tested in a real editor.
VSCODE := editors/vscode

vscode: $(VSCODE)/node_modules/.package-lock.json
	node $(VSCODE)/scripts/package.mjs

vscode-all: $(VSCODE)/node_modules/.package-lock.json
	node $(VSCODE)/scripts/package.mjs --all

vscode-test: vscode
	cd $(VSCODE) && npm run --silent check
	node $(VSCODE)/test/run.mjs

# Renews the pictures of its README from those that the tests left behind.
vscode-screenshots: vscode-test
	node $(VSCODE)/scripts/screenshots.mjs

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	cd $(VSCODE) && npm ci --no-audit --no-fund --loglevel=error
	touch $@

# The plugin for Neovim, in real editors.
NEOVIM := editors/neovim

neovim-test: build neovim-lint
	sh $(NEOVIM)/test/run.sh

# Renews the picture of its README from what the tests left behind.
neovim-pictures: neovim-test
	go run ./internal/tools/picture -screen < $(NEOVIM)/out/window.ansi > $(NEOVIM)/media/window.svg

neovim-lint:
	cd $(NEOVIM) && $$(sh test/install.sh stylua) --check . && luacheck -q .

bench: build
	go run ./internal/tools/bench

# What people download: an archive and a VSIX for each system, with checksums. VERSION=v1.2.3 names it, else git does; NO_VSIX=1
# leaves out the extension for VS Code.
release:
	go run ./internal/tools/release -version '$(VERSION)' -out dist $(if $(NO_VSIX),-no-vsix)

# What is in the binary that others wrote, and under which licence.
licenses:
	@go run ./internal/tools/licenses

generate:
	go generate ./...

clean:
	rm -rf bin dist coverage.out $(VSCODE)/dist $(VSCODE)/out $(NEOVIM)/out
