# What a person types here: make run, make check, make test, make bench, make install. Everything else serves these.
export CGO_ENABLED ?= 0
# What is compiled serves every stage, in whatever directory (-trimpath). Tests are about ctxls, not about how a checkout is stamped.
export GOFLAGS := $(shell go env GOFLAGS 2>/dev/null) -trimpath -buildvcs=false
LDFLAGS := -s -w
PREFIX  ?= $(HOME)/.local

.PHONY: build run install check test needs unit race fuzz e2e fleet-test fleet-bench host-pictures lint audit cross matrix bench release licenses generate clean vscode vscode-all vscode-unit vscode-test vscode-screenshots neovim-test neovim-lint neovim-pictures go windows-test windows-editors arm64-test

build: bin/ctxls

# The stamp of a checkout that git trusts says which commit it is.
bin/ctxls: $(shell find adapters cmd internal -name '*.go' -o -name '*.json' -o -name '*.sql' -o -name '*.bin' -o -name '*.js') go.mod go.sum | go
	@go build -buildvcs=$$(git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo auto || echo false) -ldflags '$(LDFLAGS)' -o $@ ./cmd/ctxls || { \
	  sh internal/tools/require.sh modules; exit 1; }

go:
	@sh internal/tools/require.sh go

# A recorded session, played through the real binary.
run: build
	go run ./internal/tools/replay --bin bin/ctxls

# PREFIX=/usr/local puts it elsewhere.
install: build
	@mkdir -p '$(PREFIX)/bin' && install -m 755 bin/ctxls '$(PREFIX)/bin/ctxls' && echo 'installed $(PREFIX)/bin/ctxls'
	@case ":$$PATH:" in *':$(PREFIX)/bin:'*) ;; *) echo 'Put $(PREFIX)/bin on your PATH.' ;; esac

# The stages of the tests: each is a target below that can be made alone. They run two at a time, or as many as JOBS says, the long
# ones first. Whoever adds one adds its name here; what it cannot do on a machine it says in a line "not run: WHAT: WHY".
HOSTS  := $(patsubst test/%/host/,%,$(wildcard test/*/host/))
CHECKS := unit lint vscode-unit neovim-test
STAGES := race vscode-test fleet-test $(HOSTS:%=e2e-%) unit fuzz cross neovim-test lint audit

# What one runs after each change: format, vet, staticcheck, all tests in Go, those of the editors but for a whole VS Code.
check:
	@MAKE='$(MAKE)' sh internal/tools/stages.sh $(CHECKS)

# All that must hold. CI runs this and nothing else.
test:
	@MAKE='$(MAKE)' sh internal/tools/stages.sh $(STAGES)

# What a fresh machine lacks.
needs:
	@sh internal/tools/require.sh go node room
	@sh internal/tools/needs.sh

unit:
	sh internal/tools/unit.sh internal/core 90

# Where tests run our code in their own process. Those that only repeat work in one goroutine are shortened; of the counter of tokens
# they are all but one.
race:
	sh internal/tools/with.sh 'the race detector' $${CC:-cc} -- env CGO_ENABLED=1 \
	  go test -race -short -vet=off $$(go list ./cmd/... ./internal/... | grep -v -e /internal/tools/ -e /internal/core/token)
	sh internal/tools/with.sh 'the race detector' $${CC:-cc} -- env CGO_ENABLED=1 \
	  go test -race -vet=off -run '^TestConcurrent$$' ./internal/core/token

# With the real agent hosts, offline. Linux only: elsewhere there are no such tests.
e2e:
	@MAKE='$(MAKE)' sh internal/tools/stages.sh $(HOSTS:%=e2e-%)

# -v, since where a test cannot run it says why.
e2e-%:
	go test -tags e2e -count=1 -vet=off -timeout 20m -v ./test/$*

# ctxls-fleet with a real PostgreSQL, collector and Prometheus. Linux only: elsewhere there are no such tests.
FLEET := ./internal/team/... ./test/fleet/...
fleet-test:
	export CTXLS_OTELCOL; CTXLS_OTELCOL=$$(sh internal/tools/tool.sh otelcol) && \
	sh internal/tools/with.sh 'the tests of the fleet' /usr/lib/postgresql/15/bin/postgres prometheus promtool -- \
	  go test -tags fleet -count=1 -vet=off -timeout 15m $(FLEET)

# What the fleet costs and survives: what docs/fleet.md says. MACHINES=100 SECONDS=30 for a short run.
fleet-bench:
	export CTXLS_OTELCOL; CTXLS_OTELCOL=$$(sh internal/tools/tool.sh otelcol) && \
	CTXLS_FLEET_BENCH=1 go test -tags fleet -count=1 -vet=off -timeout 60m -v -run '^TestBench' ./test/fleet

# Renews the documents' pictures of the hosts.
host-pictures:
	go test -tags e2e -count=1 -run '^TestPicture$$' ./test/*/ -update

# Attacks: faults with many repetitions, then fuzzing; prints what was tried. SIEGETIME=2h to search in earnest.
SIEGETIME ?= 10m
siege:
	sh internal/tools/siege.sh $(SIEGETIME)

# Every fuzz target, for a time that one waits for; FUZZTIME=10m to search in earnest.
FUZZTIME ?= 3s
fuzz:
	sh internal/tools/fuzz.sh $(FUZZTIME)

# With the tags that add the tests of the hosts and of the fleet to everything else.
TAGS := e2e,fleet
lint:
	test -z "$$(gofmt -l adapters cmd internal test)" || { gofmt -l adapters cmd internal test; exit 1; }
	go vet -tags $(TAGS) ./...
	"$$(sh internal/tools/tool.sh staticcheck)" -tags $(TAGS) ./...

# What others wrote: as it was published, under which licences, and without known holes.
audit:
	go mod verify
	go run ./internal/tools/licenses > /dev/null
	go run ./internal/tools/licenses -program ./cmd/ctxls-fleet > /dev/null
	go run ./internal/tools/vulns -program "$$(sh internal/tools/tool.sh govulncheck)"

# Every system that there is a release for, whatever this one is. Ours has files for systems and none for processors, so one of each
# system is vetted.
SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

cross:
	for target in $(SYSTEMS); do \
	  export GOOS=$${target%/*} GOARCH=$${target#*/}; \
	  go build -o /dev/null ./cmd/ctxls && go build -o /dev/null ./cmd/ctxls-fleet || { echo "$$target does not build"; exit 1; }; \
	  case $$target in linux/*|*/arm64) continue ;; esac; \
	  go vet ./... || { echo "$$target: go vet"; exit 1; }; \
	done

# The unit tests as programs of Windows, under Wine. PACKAGES=./internal/store/... runs those of some packages.
windows-test:
	sh internal/tools/with.sh 'the tests on Windows' x86_64-w64-mingw32-gcc -- sh internal/tools/wine/test.sh $(PACKAGES)

# Both editors as programs of Windows, under Wine: how they find ctxls.exe, start it and end it.
windows-editors: vscode build
	sh internal/tools/with.sh 'the editors on Windows' x86_64-w64-mingw32-gcc -- sh $(NEOVIM)/test/windows.sh
	sh internal/tools/with.sh 'the editors on Windows' x86_64-w64-mingw32-gcc -- node $(VSCODE)/test/windows.mjs

# The unit tests for another processor, under emulation.
arm64-test:
	sh internal/tools/with.sh 'the tests on arm64' qemu-aarch64-static unshare -- sh internal/tools/arm64.sh $(PACKAGES)

# The tests on other machines than yours: locales, time zones, terminals, places and owners of the checkout. Needs root.
matrix:
	sh internal/tools/matrix.sh

# The extension for VS Code: for this platform, for all that are supported, tested in a real editor.
VSCODE := editors/vscode

vscode: $(VSCODE)/node_modules/.package-lock.json
	node $(VSCODE)/scripts/package.mjs

vscode-all: $(VSCODE)/node_modules/.package-lock.json
	node $(VSCODE)/scripts/package.mjs --all

vscode-unit: vscode
	cd $(VSCODE) && npm run --silent check
	node $(VSCODE)/test/run.mjs unit

vscode-test: vscode-unit
	node $(VSCODE)/test/run.mjs e2e

# Renews the pictures that the tests compare with, and those of the README.
vscode-screenshots: vscode
	CTXLS_RENEW=1 node $(VSCODE)/test/run.mjs e2e thePictures
	node $(VSCODE)/scripts/screenshots.mjs

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	@sh internal/tools/require.sh node
	cd $(VSCODE) && npm ci --no-audit --no-fund --loglevel=error || { sh ../../internal/tools/require.sh packages; exit 1; }
	touch $@

# The plugin for Neovim, in real editors.
NEOVIM := editors/neovim

neovim-test: build neovim-lint
	sh $(NEOVIM)/test/run.sh

# Renews the picture of its README from what the tests left behind.
neovim-pictures: neovim-test
	go run ./internal/tools/picture -screen < $(NEOVIM)/out/window.ansi > $(NEOVIM)/media/window.svg

neovim-lint:
	cd $(NEOVIM) && "$$(sh test/install.sh stylua)" --check .
	cd $(NEOVIM) && sh ../../internal/tools/with.sh 'the lint of the plugin for Neovim' luacheck -- luacheck -q .

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
