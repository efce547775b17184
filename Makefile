# SPDX-License-Identifier: Apache-2.0
#
# Everything here needs Go and make, and nothing else: what it runs besides is
# built from Go modules, once per user (see cluster/tools).

MODULE  := github.com/crossplane-contrib/provider-kyma
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo v0.0.0-$$(git rev-parse --short HEAD 2>/dev/null || echo dev))
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
# One set of flags for all that is built, here and in cluster/tools: Go compiles every
# dependency again for another one.
# The tag leaves out plugins of kustomize, which nothing here allows: a program that can
# load plugins keeps every method of every type.
# Tables for a debugger are left out: a tenth less is compiled, and stack traces keep
# their lines. To debug a test, run go test or dlv without make.
export GOFLAGS     := -trimpath -buildvcs=false -tags=kustomize_disable_go_plugin_support '-gcflags=all=-dwarf=false -c=1'
export CGO_ENABLED := 0
LDFLAGS := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT)
TOOLS   := go run ./cluster/tools/cmd/tools
# Crossplane listens on a fixed port, so that what runs it is tested later, one by one.
UNIT    := $(patsubst %,./%/...,$(wildcard apis cmd examples/operator hack internal pkg cluster test/boundary test/api test/fleet test/render test/target test/unions)) ./test/controlplane
EARLY   := $(filter-out ./test/% ./cluster/%,$(UNIT))
# The race detector needs a C compiler. Go answers 0 where there is none.
RACE    := $(if $(filter 1,$(shell env -u CGO_ENABLED go env CGO_ENABLED)),-race)
# The linter runs vet. Without debugging information, test binaries are linked in half the time. The timeout is for
# tests at low priority beside the suites.
GOTEST  := $(if $(RACE),CGO_ENABLED=1) go test $(RACE) -vet=off -ldflags=-w -timeout 30m
# As in tools.Compile: compilers collect garbage less often, and with few cores, each of them gets one.
CORES   := $(shell getconf _NPROCESSORS_ONLN)
LAZY    := GOGC=400 GOMEMLIMIT=2GiB
COMPILE := $(LAZY) $(if $(filter 1 2 3 4,$(CORES)),GOMAXPROCS=1)
PACKAGES := $(if $(filter 1 2 3 4,$(CORES)),-p $(CORES))
BUILD   := $(COMPILE) go build $(PACKAGES)
# Without a go command in between, which would keep signals to itself.
DEMO    := echo "building the demo itself, and the libraries that the provider shares with it" && \
	$(BUILD) -ldflags '-s -w' -o bin/demo ./cluster/local && exec bin/demo
# What the tests run, and what those with Crossplane run.
TESTED  := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok helm crane oras cosign
E2E     := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok crossplane crank \
	function-patch-and-transform function-auto-ready
# How many Manifests the benchmark makes, and how many Kymas of three modules.
N       ?= 50
M       ?= 20
# How many clusters the fleet benchmark has, and how many modules each of them.
CLUSTERS ?= 50
MODULES ?= 3
# For how many seconds the fuzz targets run, all together.
FUZZ    ?= 3600
# How long make model plays, and the first seed: another one each time, unless SEED is given.
FOR     ?= 30m
# Recipes that need the name of an image begin with it: none is guessed.
NAMED   = @case "$$IMG" in "" | *[!a-zA-Z0-9._:/@-]*) echo "make $@: error: set IMG to the name of the image," \
	"as in: make $@ IMG=registry.example.org/provider-kyma:v0.1.0" >&2; exit 1 ;; esac

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo demo-check run install uninstall deploy undeploy build docker-build docker-push image xpkg \
	test early-unit test-unit test-integration test-e2e test-faults faults fuzz model bench bench-fleet manifests generate lint reviewable check-diff tools clean

help: ## Print this list.
	@echo "provider-kyma $(VERSION)"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "The first run builds what it runs: the servers of Kubernetes, and those of Crossplane, which make run does"
	@echo "without. They are kept in $${XDG_CACHE_HOME:-$$HOME/.cache}/provider-kyma for the next one."

demo: ## Start two clusters, Crossplane and a registry, claim modules, stay until Ctrl-C.
	@echo "==> demo: usually takes 8 to 16 minutes the first time, then it is ready after 1 minute"
	@$(DEMO)

demo-check: ## The same, then repair and removal are checked: exits 0 or 1.
	@echo "==> demo-check: usually takes 8 to 16 minutes the first time, then 1 to 2 minutes"
	@$(DEMO) -check

ifdef KUBECONFIG
run: ## Run the provider against the cluster of KUBECONFIG, with flags ARGS; without KUBECONFIG, as demo without Crossplane.
	@echo "==> run: usually takes 5 minutes the first time, then it is ready after 15 seconds"
	@hack/cluster.sh run
	@# By default, it listens on loopback only.
	@$(BUILD) -ldflags '$(LDFLAGS)' -o bin/provider ./cmd/provider && exec env \
		PROVIDER_METRICS_BIND_ADDRESS="$${PROVIDER_METRICS_BIND_ADDRESS:-127.0.0.1:8080}" \
		PROVIDER_HEALTH_PROBE_BIND_ADDR="$${PROVIDER_HEALTH_PROBE_BIND_ADDR:-127.0.0.1:8081}" bin/provider $(ARGS)
else
run:
	@echo "==> run: usually takes 6 to 12 minutes the first time, then it is ready after 30 seconds"
	@$(DEMO) -bare
endif

# These four run kubectl, which is built from Go modules too, and need KUBECONFIG: no other cluster is ever changed.
install: ## Apply the CRDs to the cluster of KUBECONFIG.
	@echo "==> install: usually takes 3 minutes the first time, then 5 seconds"
	@hack/cluster.sh install

uninstall: ## Delete the CRDs from the cluster of KUBECONFIG, unless there are objects of their kinds.
	@echo "==> uninstall: usually takes 3 minutes the first time, then 5 seconds"
	@hack/cluster.sh uninstall

deploy: ## Apply the CRDs and the provider, as a Deployment of image IMG, to the cluster of KUBECONFIG.
	@echo "==> deploy: usually takes 3 minutes the first time, then 5 seconds"
	$(NAMED)
	@hack/cluster.sh deploy

undeploy: ## Delete what deploy applied, unless there are objects of the kinds.
	@echo "==> undeploy: usually takes 3 minutes the first time, then 15 seconds"
	@hack/cluster.sh undeploy

build: ## Build bin/provider and bin/kymactl.
	@echo "==> build: usually takes 2 minutes the first time, then seconds"
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/provider ./cmd/provider
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/kymactl ./cmd/kymactl

docker-build: ## Make the image IMG: bin/image, for PLATFORMS or for linux on this architecture, and bin/image.tar, for docker load.
	@echo "==> docker-build: usually takes 3 minutes the first time, then 20 seconds"
	$(NAMED)
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' -name "$$IMG" \
		-platforms '$(or $(PLATFORMS),linux/$(shell go env GOARCH))' image

docker-push: ## Push bin/image to IMG. A registry on loopback may speak plain HTTP.
	@echo "==> docker-push: usually takes 1 minute the first time, then as long as the upload"
	$(NAMED)
	@[ -e bin/image/index.json ] || { echo "make $@: error: there is no image yet: run make docker-build IMG=$$IMG first" >&2; exit 1; }
	@crane="$$($(TOOLS) path crane)" && "$$crane" push --index bin/image "$$IMG"

image: ## Make bin/image, the provider's image for linux/amd64 and linux/arm64.
	@echo "==> image: usually takes 5 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' image

xpkg: ## Make bin/provider-kyma.xpkg and bin/configuration-kyma.xpkg, for Crossplane.
	@echo "==> xpkg: usually takes 7 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' xpkg

test: demo-check test-unit test-integration test-e2e test-faults ## Run all tests.

# For .ci/run, which has the compiler and the unit tests without servers work while the suites wait. What passes here is
# in the cache of go test. What fails, for example because it got no processor for too long, runs again in test-unit.
early-unit:
	@echo "==> early-unit: usually takes 15 minutes the first time, then 1 minute"
	@$(if $(RACE),CGO_ENABLED=1) $(COMPILE) go list $(PACKAGES) $(RACE) -test -export -f '{{""}}' $(UNIT) >/dev/null
	-@$(GOTEST) $(EARLY)

test-unit: ## Run the unit tests, and the tests of the layout and of the local control plane.
	@echo "==> test-unit: usually takes 9 minutes the first time, then 1 minute"
	$(if $(RACE),,@echo "there is no C compiler here, so the race detector is off")
	@$(TOOLS) build $(TESTED)
	$(GOTEST) $(UNIT)

# The suites build what they run, which the cache of go test does not see: hence -count=1.
test-integration: ## Run kymactl against real registries, the targets of this file, and the integration suite against two real API servers.
	@echo "==> test-integration: usually takes 15 minutes"
	@$(TOOLS) build $(TESTED)
	go test -count=1 -p 1 ./test/cosign ./test/interop ./test/kymactl ./test/makefile -timeout 30m
	@# The specs wait more than they work, so that two processes take little more than half the time of one.
	go tool ginkgo run -no-color -procs=3 -timeout=40m ./test/integration

test-e2e: ## Run the end-to-end tests with Crossplane. The demo has its own target: demo-check.
	@echo "==> test-e2e: usually takes 8 minutes"
	@$(TOOLS) build $(E2E)
	go test -count=1 -p 1 ./test/controlplane/crossplane ./test/e2e/... -timeout 30m

test-faults: ## Run the specs of the suite of faults that hold on any machine.
	@echo "==> test-faults: usually takes 3 minutes"
	@$(TOOLS) build $(TESTED)
	go tool ginkgo run -no-color -v -label-filter=short -timeout=20m ./test/faults

faults: ## Run the suite of faults. It compares times, so that nothing else should run on the machine.
	@echo "==> faults: usually takes 8 minutes"
	@$(TOOLS) build $(TESTED)
	go tool ginkgo run -no-color -v -timeout=20m ./test/faults

fuzz: ## Run all fuzz targets, for FUZZ seconds in all (FUZZ=3600); only some with TARGETS=REGEXP.
	@echo "==> fuzz: takes $(FUZZ) seconds, and a minute for each package to build"
	@hack/fuzz.sh '$(FUZZ)' '$(TARGETS)'

model: ## Play random sequences of changes and faults against the engine, for FOR=30m, from SEED on. Prints how to replay a failure.
	@seed=$${SEED:-$$(date +%s)} && echo "==> model: $(FOR) of sequences from seed $$seed on" && \
	go test -vet=off -ldflags=-w -count=1 -timeout 0 -v ./pkg/manifest -run '^TestModelWorld$$' -model.for=$(FOR) -model.seed=$$seed

bench: ## Measure N Manifests (N=50) and M Kymas (M=20), print it and write bench.json.
	@echo "==> bench: usually takes 4 minutes for N=50 and M=20, of which two are idle"
	go run ./test/bench -n $(N) -kymas $(M)

bench-fleet: ## Measure the provider with simulated clusters (CLUSTERS=50 MODULES=3), print it and write fleet.json. ARGS=-help lists options.
	@echo "==> bench-fleet: usually takes 15 minutes for 50 clusters, of which ten are idle"
	go run ./test/fleet/bench -clusters $(CLUSTERS) -modules $(MODULES) $(ARGS)

manifests: ## Generate the CRDs of the API, and its deep copies, which controller-gen makes in the same run.
	@echo "==> manifests: usually takes 1 minute the first time, then 10 seconds"
	go generate -run package/crds ./apis/...

generate: ## Generate the code and the CRDs of the API, docs/kymactl.md and docs/library-api.txt.
	@echo "==> generate: usually takes 3 minutes the first time, then 20 seconds"
	$(LAZY) go generate ./apis/...
	go test ./internal/cli/reference -update
	go test ./test/boundary -run TestPublicAPI -update

lint: ## Run golangci-lint with .golangci.yml, and check the words.
	@echo "==> lint: usually takes 3 minutes the first time, then 20 seconds"
	@go run ./hack/words
	@# What it keeps names the files of one checkout, so that each has its own.
	@lint="$$($(TOOLS) path golangci-lint)" && GOGC=200 GOLANGCI_LINT_CACHE="$(CURDIR)/bin/lint" "$$lint" run ./...

reviewable: generate lint test-unit ## What a change must pass before you submit it.

check-diff: generate ## Fail when the generated files are not those in git.
	@git diff --exit-code -- apis package docs/kymactl.md docs/library-api.txt
	@untracked="$$(git ls-files --others --exclude-standard -- apis package docs)"; \
		if [ -n "$$untracked" ]; then echo "generated, but not in git:"; echo "$$untracked"; exit 1; fi

tools: ## Build the servers and clients that the tests and the demo run.
	@echo "==> tools: usually takes 15 to 25 minutes the first time, then nothing"
	$(TOOLS) build

clean: ## Remove what build and bench leave here. The tools stay in the cache.
	rm -rf bin bench.json fleet.json
