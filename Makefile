# SPDX-License-Identifier: Apache-2.0
#
# Everything here needs Go and make, and nothing else: what it runs besides is
# built from Go modules, once per user (see cluster/tools).

MODULE  := github.com/crossplane-contrib/provider-kyma
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo v0.0.0-$$(git rev-parse --short HEAD 2>/dev/null || echo dev))
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT)
TOOLS   := go run ./cluster/tools/cmd/tools
# Crossplane listens on a fixed port, so that what runs it is tested later, one by one.
UNIT    := $(patsubst %,./%/...,$(wildcard apis cmd examples/operator internal pkg cluster test/boundary test/api test/render test/target)) ./test/controlplane
# The race detector needs a C compiler. Go answers 0 where there is none.
RACE    := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# Without a go command in between, which would keep signals to itself.
DEMO    := go build -o bin/demo ./cluster/local && exec bin/demo
# How many Manifests the benchmark makes, and how many Kymas of three modules.
N       ?= 50
M       ?= 20

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo demo-check run build image xpkg test test-unit test-integration test-e2e bench \
	generate lint reviewable check-diff tools clean

help: ## Print this list.
	@echo "provider-kyma $(VERSION)"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "The first run builds the servers of Kubernetes, which takes about 6 minutes on two cores,"
	@echo "and those of Crossplane, which takes 10 more and which make run does without."
	@echo "They are kept in $${XDG_CACHE_HOME:-$$HOME/.cache}/provider-kyma for the next one."

demo: ## Start two clusters, Crossplane and a registry, claim modules, stay until Ctrl-C.
	@echo "==> demo: usually takes 20 minutes the first time, then it is ready after 1 minute"
	@$(DEMO)

demo-check: ## The same, then repair and removal are checked: exits 0 or 1.
	@echo "==> demo-check: usually takes 21 minutes the first time, then 1 to 2 minutes"
	@$(DEMO) -check

run: ## Start a control plane with the provider, a second cluster and a registry, without Crossplane, stay until Ctrl-C.
	@echo "==> run: usually takes 7 minutes the first time, then it is ready after 30 seconds"
	@$(DEMO) -bare

build: ## Build bin/provider and bin/kymactl.
	@echo "==> build: usually takes 2 minutes the first time, then seconds"
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/provider ./cmd/provider
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kymactl ./cmd/kymactl

image: ## Make bin/image, the provider's image for linux/amd64 and linux/arm64.
	@echo "==> image: usually takes 5 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' image

xpkg: ## Make bin/provider-kyma.xpkg and bin/configuration-kyma.xpkg, for Crossplane.
	@echo "==> xpkg: usually takes 7 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' xpkg

test: test-unit test-integration test-e2e ## Run all tests.

test-unit: ## Run the unit tests, and the tests of the layout and of the local control plane.
	@echo "==> test-unit: usually takes 9 minutes the first time, then 1 minute"
	$(if $(RACE),,@echo "there is no C compiler here, so the race detector is off")
	go test $(RACE) $(UNIT)

# The suites build what they run, which the cache of go test does not see: hence -count=1.
test-integration: ## Run kymactl against real registries, and the integration suite against two real API servers.
	@echo "==> test-integration: usually takes 15 minutes"
	go test -count=1 -p 1 ./test/cosign ./test/interop ./test/kymactl -timeout 30m
	@# The specs wait more than they work, so that two processes take little more than half the time of one.
	go tool ginkgo run -no-color -procs=2 -timeout=40m ./test/integration

test-e2e: demo-check ## Run the end-to-end tests with Crossplane, and check the demo.
	@echo "==> test-e2e: usually takes 8 minutes"
	go test -count=1 -p 1 ./test/controlplane/crossplane ./test/e2e/... -timeout 30m

bench: ## Measure N Manifests (N=50) and M Kymas (M=20), print it and write bench.json.
	@echo "==> bench: usually takes 4 minutes for N=50 and M=20, of which two are idle"
	go run ./test/bench -n $(N) -kymas $(M)

generate: ## Generate the code and the CRDs of the API, docs/kymactl.md and docs/library-api.txt.
	@echo "==> generate: usually takes 3 minutes the first time, then 20 seconds"
	go generate ./apis/...
	go test ./internal/cli/reference -update
	go test ./test/boundary -run TestPublicAPI -update

lint: ## Run golangci-lint with .golangci.yml.
	@echo "==> lint: usually takes 3 minutes the first time, then 20 seconds"
	@# What it keeps names the files of one checkout, so that each has its own.
	@lint="$$($(TOOLS) path golangci-lint)" && GOLANGCI_LINT_CACHE="$(CURDIR)/bin/lint" "$$lint" run ./...

reviewable: generate lint test-unit ## What a change must pass before it is shown to anybody.

check-diff: generate ## Fail when the generated files are not those in git.
	@git diff --exit-code -- apis package docs/kymactl.md docs/library-api.txt
	@untracked="$$(git ls-files --others --exclude-standard -- apis package docs)"; \
		if [ -n "$$untracked" ]; then echo "generated, but not in git:"; echo "$$untracked"; exit 1; fi

tools: ## Build the servers and clients that the tests and the demo run.
	@echo "==> tools: usually takes 21 minutes the first time, then nothing"
	$(TOOLS) build

clean: ## Remove what build and bench leave here. The tools stay in the cache.
	rm -rf bin bench.json
