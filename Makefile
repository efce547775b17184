# SPDX-License-Identifier: Apache-2.0
#
# All targets need only Go and make. Other tools are built from Go modules, once
# per user (see cluster/tools).

MODULE  := github.com/crossplane-contrib/provider-kyma
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo v0.0.0-$$(git rev-parse --short HEAD 2>/dev/null || echo dev))
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
# All builds, here and in cluster/tools, use the same flags, because Go compiles every
# dependency again for different flags.
# The tag omits the plugins of kustomize, which are never used: in a program that can
# load plugins, the linker keeps every method of every type.
# Without debugging information, a tenth less is compiled, and stack traces still have
# line numbers. To debug a test, run go test or dlv without make.
export GOFLAGS     := -trimpath -buildvcs=false -tags=kustomize_disable_go_plugin_support '-gcflags=all=-dwarf=false -c=1'
export CGO_ENABLED := 0
LDFLAGS := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT)
TOOLS   := go run ./cluster/tools/cmd/tools
# Crossplane listens on a fixed port, so packages that run it are tested later, in sequence.
UNIT    := $(patsubst %,./%/...,$(wildcard apis cmd examples/operator hack internal pkg cluster test/api test/fleet test/render test/target test/unions)) ./test/controlplane
EARLY   := $(filter-out ./test/% ./cluster/%,$(UNIT))
# The race detector needs a C compiler. Without one, Go prints 0.
RACE    := $(if $(filter 1,$(shell env -u CGO_ENABLED go env CGO_ENABLED)),-race)
# The linter runs vet. Without debugging information, test binaries are linked in half the time. The timeout is for
# tests at low priority beside the suites.
GOTEST  := $(if $(RACE),CGO_ENABLED=1) go test $(RACE) -vet=off -ldflags=-w -timeout 30m
# Tests that use too much memory or CPU time with the race detector, or do less with it.
PLAIN   := go test -vet=off -ldflags=-w -timeout 30m
NORACE  := $(if $(RACE),$(PLAIN) -run '^(TestMemoryOfBlockedChild|TestBombs|TestExecutable)$$' ./internal/render/sandbox && \
	$(PLAIN) -run '^(TestModel|TestCrash|TestTooLarge)' ./pkg/manifest,true)
# As in tools.Compile: compilers collect garbage less often, and with few cores, each of them gets one.
CORES   := $(shell getconf _NPROCESSORS_ONLN)
LAZY    := GOGC=400 GOMEMLIMIT=2GiB
COMPILE := $(LAZY) $(if $(filter 1 2 3 4,$(CORES)),GOMAXPROCS=1)
PACKAGES := $(if $(filter 1 2 3 4,$(CORES)),-p $(CORES))
BUILD   := $(COMPILE) go build $(PACKAGES)
# The demo runs as a binary, because go run does not forward signals.
DEMO    := echo "building the demo and the libraries that it shares with the provider" && \
	$(BUILD) -ldflags '-s -w' -o bin/demo ./cluster/local && exec bin/demo
# Tools of the tests, and of the tests with Crossplane.
TESTED  := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok helm crane oras cosign
E2E     := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok crossplane crank \
	function-patch-and-transform function-auto-ready
# The numbers of Manifests, and of Kymas with three modules, in the benchmark.
N       ?= 50
M       ?= 20
# The numbers of clusters, and of modules in each of them, in the fleet benchmark.
CLUSTERS ?= 50
MODULES ?= 3
# The duration of all fuzz targets together, in seconds.
FUZZ    ?= 3600
# The older versions of Kubernetes and Crossplane of make test-matrix, and the specs that it runs: those that depend most on the target.
KUBERNETES ?= 1.34 1.35
CROSSPLANE ?= 2.3
MATRIX  := Installing a chart|Changing a Manifest|Removing a Manifest|Upgrade safety|An existing installation|A CRD that two Manifests contain|Drift \
	|A drift policy|Fields of other field managers|Hooks of a chart|The real chart|Custom resources of kinds|A Manifest that impersonates
# The URL of the database for make vulncheck, such as file:///path.
VULNDB  ?=
# The duration of make model. Its first seed depends on the time, unless SEED is set.
FOR     ?= 30m
# The flags of a release.
RELEASE = $(if $(PLATFORMS),-platforms '$(PLATFORMS)') $(if $(REGISTRY),-registry '$(REGISTRY)') $(if $(KEY),-key '$(KEY)') \
	$(if $(BASE_URL),-base-url '$(BASE_URL)') $(if $(BUILDER),-builder '$(BUILDER)')
# Recipes that need the name of an image begin with NAMED, because there is no default.
NAMED   = @case "$$IMG" in "" | *[!a-zA-Z0-9._:/@-]*) echo "make $@: error: set IMG to the name of the image," \
	"for example: make $@ IMG=registry.example.org/provider-kyma:v0.1.0" >&2; exit 1 ;; esac

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo demo-check run install uninstall deploy undeploy build docker-build docker-push image xpkg release release-check release-sign \
	test early-unit late-unit test-unit test-cli test-upgrade test-integration test-matrix test-e2e test-faults test-fleet faults fuzz model bench bench-fleet manifests generate lint licenses vulncheck reviewable check-diff tools clean

help: ## Print this list.
	@echo "provider-kyma $(VERSION)"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "The first run builds the Kubernetes servers and, except for make run, Crossplane. They are cached in"
	@echo "$${XDG_CACHE_HOME:-$$HOME/.cache}/provider-kyma."

demo: ## Start clusters, Crossplane and a registry, claim modules, show a rollout, and run until Ctrl-C.
	@echo "==> demo: usually takes 8 to 16 minutes the first time, then 1 to 2 minutes until it is ready"
	@$(DEMO)

demo-check: ## Run the demo, verify repair, rollouts and removal, and exit with 0 or 1.
	@echo "==> demo-check: usually takes 8 to 16 minutes the first time, then 2 to 4 minutes"
	@$(DEMO) -check

ifdef KUBECONFIG
run: ## Run the provider with flags ARGS against the cluster of KUBECONFIG. If it is not set, run a demo without Crossplane.
	@echo "==> run: usually takes 5 minutes the first time, then 15 seconds until it is ready"
	@hack/cluster.sh run
	@# By default, the provider listens only on loopback addresses.
	@$(BUILD) -ldflags '$(LDFLAGS)' -o bin/provider ./cmd/provider && exec env \
		PROVIDER_METRICS_BIND_ADDRESS="$${PROVIDER_METRICS_BIND_ADDRESS:-127.0.0.1:8080}" \
		PROVIDER_HEALTH_PROBE_BIND_ADDR="$${PROVIDER_HEALTH_PROBE_BIND_ADDR:-127.0.0.1:8081}" bin/provider $(ARGS)
else
run:
	@echo "==> run: usually takes 6 to 12 minutes the first time, then 30 seconds until it is ready"
	@$(DEMO) -bare
endif

# These four targets run kubectl, which is built from Go modules too. They require KUBECONFIG, and never change another cluster.
install: ## Apply the CRDs to the cluster of KUBECONFIG.
	@echo "==> install: usually takes 3 minutes the first time, then 5 seconds"
	@hack/cluster.sh install

uninstall: ## Delete the CRDs from the cluster of KUBECONFIG. Fails if objects of these kinds exist.
	@echo "==> uninstall: usually takes 3 minutes the first time, then 5 seconds"
	@hack/cluster.sh uninstall

deploy: ## Apply the CRDs, and the objects of the Helm chart with image IMG, to the cluster of KUBECONFIG.
	@echo "==> deploy: usually takes 3 minutes the first time, then 5 seconds"
	$(NAMED)
	@hack/cluster.sh deploy

undeploy: ## Delete what deploy applied. Fails if objects of these kinds exist.
	@echo "==> undeploy: usually takes 3 minutes the first time, then 15 seconds"
	@hack/cluster.sh undeploy

build: ## Build bin/provider and bin/kymactl.
	@echo "==> build: usually takes 2 minutes the first time, then seconds"
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/provider ./cmd/provider
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/kymactl ./cmd/kymactl

docker-build: ## Build the image IMG into bin/image, for PLATFORMS (default: this architecture), and into bin/image.tar, for docker load.
	@echo "==> docker-build: usually takes 3 minutes the first time, then 20 seconds"
	$(NAMED)
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' -name "$$IMG" \
		-platforms '$(or $(PLATFORMS),linux/$(shell go env GOARCH))' image

docker-push: ## Push bin/image to IMG. A registry on a loopback address can use plain HTTP.
	@echo "==> docker-push: usually takes 1 minute the first time, then as long as the upload takes"
	$(NAMED)
	@[ -e bin/image/index.json ] || { echo "make $@: error: there is no image yet: run make docker-build IMG=$$IMG first" >&2; exit 1; }
	@crane="$$($(TOOLS) path crane)" && "$$crane" push --index bin/image "$$IMG"

image: ## Build bin/image, the image of the provider for linux/amd64 and linux/arm64.
	@echo "==> image: usually takes 5 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' image

xpkg: ## Build the Crossplane packages bin/provider-kyma.xpkg and bin/configuration-kyma.xpkg.
	@echo "==> xpkg: usually takes 7 minutes the first time, then 30 seconds"
	@go run ./cluster/images -version '$(VERSION)' -commit '$(COMMIT)' xpkg

# A build in CI sets BUILDER to the URI of its workflow, for the provenance.
release: ## Build release VERSION into bin/release, for PLATFORMS. Push it to REGISTRY, and sign it with the cosign key KEY, if they are set.
	@echo "==> release: usually takes 30 minutes the first time for all platforms, then 3 minutes"
	@$(TOOLS) build crank cosign
	@rm -rf bin/release
	@go run ./cluster/release -version '$(VERSION)' $(RELEASE)

release-check: ## Build release VERSION twice, for PLATFORMS, and compare all files. It pushes and signs nothing.
	@echo "==> release-check: usually takes 30 minutes the first time for all platforms, then 5 minutes"
	@$(TOOLS) build crank
	@rm -rf bin/release-check
	@for run in first second; do \
		go run ./cluster/release -version '$(VERSION)' -dir bin/release-check/$$run $(if $(PLATFORMS),-platforms '$(PLATFORMS)') || exit 1; done
	@diff -r bin/release-check/first bin/release-check/second && echo "both builds are identical:" && cat bin/release-check/first/digests.txt

test: demo-check test-unit test-cli test-integration test-e2e test-faults test-fleet ## Run all tests.

# For .ci/run, which compiles, and runs the unit tests that don't need servers, while the suites wait. Results of passing tests are
# in the cache of go test. Failed tests, for example because of a lack of CPU time, run again in test-unit.
early-unit:
	@echo "==> early-unit: usually takes 15 minutes the first time, then 1 minute"
	@$(if $(RACE),CGO_ENABLED=1) $(COMPILE) go list $(PACKAGES) $(RACE) -test -export -f '{{""}}' $(UNIT) >/dev/null
	-@$(GOTEST) $(EARLY)
	-@$(NORACE)

# For .ci/run, like early-unit: the unit tests that need servers.
late-unit:
	@echo "==> late-unit: usually takes 5 minutes"
	@$(TOOLS) build $(TESTED)
	-@$(GOTEST) $(UNIT)

test-unit: ## Run the unit tests, and the tests of the repository layout and of the local control plane.
	@echo "==> test-unit: usually takes 9 minutes the first time, then 1 minute"
	$(if $(RACE),,@echo "no C compiler found: the race detector is off")
	@$(TOOLS) build $(TESTED)
	$(GOTEST) $(UNIT)
	$(NORACE)
	@# These tests read the sources in one goroutine. Their results are not in the cache if a suite has written into the repository since.
	$(PLAIN) ./test/boundary/... ./test/workflows

# The suites build the programs that they run, which the cache of go test does not consider: hence -count=1.
test-cli: ## Test kymactl with real registries, the make targets, the Helm chart, and a release with its upgrade.
	@echo "==> test-cli: usually takes 8 minutes"
	@$(TOOLS) build $(TESTED) crank crossplane
	go test -count=1 -p 1 ./test/cosign ./test/interop ./test/kymactl ./test/makefile ./test/chart ./test/release -timeout 30m

# test-cli upgrades from a release of the same source. Before a release, do it from the previous one.
test-upgrade: ## Install the release of commit or tag SINCE, and upgrade it to a release of this source while modules run.
	@echo "==> test-upgrade: usually takes 4 minutes"
	@[ -n "$$SINCE" ] || { echo "make $@: error: set SINCE to a commit or tag, for example: make $@ SINCE=v0.1.0" >&2; exit 1; }
	@$(TOOLS) build $(TESTED) crank crossplane
	go test -count=1 -timeout 30m -v ./test/release -run '^TestRelease$$/^Upgrade$$' -since "$$SINCE"

test-integration: ## Test the provider with two real API servers.
	@echo "==> test-integration: usually takes 16 minutes"
	@$(TOOLS) build $(TESTED)
	@# The specs mostly wait, so two processes take little more than half the time of one.
	go tool ginkgo run -no-color -procs=3 -timeout=40m ./test/integration

# Not part of test, because the servers of each version take half as long to build as all other tools.
test-matrix: ## Run the specs that depend most on the target with older versions of it, KUBERNETES, and the end-to-end tests with CROSSPLANE.
	@echo "==> test-matrix: usually takes 15 minutes the first time for each version, then 5 minutes"
	@for v in $(KUBERNETES); do \
		$(TOOLS) build $(TESTED) $(foreach s,kube-apiserver kube-controller-manager kube-scheduler,$(s)-$$v) && \
		TARGET_KUBERNETES=$$v go tool ginkgo run -no-color -procs=3 -timeout=40m -focus='$(MATRIX)' ./test/integration || exit 1; done
	@for v in $(CROSSPLANE); do \
		$(TOOLS) build $(E2E) crossplane-$$v && OLDER_CROSSPLANE=$$v go test -count=1 -timeout 30m ./test/e2e/... || exit 1; done

test-e2e: ## Run the end-to-end tests with Crossplane, except those of the demo (see demo-check).
	@echo "==> test-e2e: usually takes 8 minutes"
	@$(TOOLS) build $(E2E)
	go test -count=1 -p 1 ./test/controlplane/crossplane ./test/e2e/... -timeout 30m

test-faults: ## Run the fault specs that don't depend on the speed of the machine.
	@echo "==> test-faults: usually takes 3 minutes"
	@$(TOOLS) build $(TESTED)
	go tool ginkgo run -no-color -v -label-filter=short -timeout=20m ./test/faults

test-fleet: ## Measure the provider with 50 views of a real cluster and with 500 simulated clusters, and fail if it exceeds a budget.
	@echo "==> test-fleet: usually takes 6 minutes"
	@mkdir -p bin
	go run ./test/fleet/bench -real -clusters 50 -modules 3 -idle 20s -edits 50 -timeout 10m -gate -out bin/test-fleet.json \
		-phases idle,edits,rollout,rotation,restart,removal
	go run ./test/fleet/bench -clusters 500 -modules 3 -idle 5s -timeout 10m -gate -out bin/test-fleet-500.json \
		-phases idle,profiles,rotation,restart,removal

faults: ## Run all fault specs. They compare durations, so nothing else should run on the machine.
	@echo "==> faults: usually takes 20 minutes"
	@$(TOOLS) build $(TESTED)
	go tool ginkgo run -no-color -v -timeout=20m ./test/faults
	go test -count=1 -timeout 60m -v ./test/fleet/crashes -crashes.every

fuzz: ## Run all fuzz targets, for FUZZ seconds in total (default 3600). Select targets with TARGETS=REGEXP.
	@echo "==> fuzz: takes $(FUZZ) seconds, plus a minute per package to build"
	@hack/fuzz.sh '$(FUZZ)' '$(TARGETS)'

model: ## Run random sequences of changes and faults against the engine, for FOR (default 30m), starting at SEED.
	@seed=$${SEED:-$$(date +%s)} && echo "==> model: runs sequences for $(FOR), starting at seed $$seed" && \
	go test -vet=off -ldflags=-w -count=1 -timeout 0 -v ./pkg/manifest -run '^TestModelWorld$$' -model.for=$(FOR) -model.seed=$$seed

bench: ## Measure N Manifests (default 50) and M Kymas (default 20), print the results, and write bench.json.
	@echo "==> bench: usually takes 4 minutes for N=50 and M=20, of which the provider is idle for two"
	go run ./test/bench -n $(N) -kymas $(M)

bench-fleet: ## Measure the provider with CLUSTERS simulated clusters (default 50) of MODULES modules (default 3), and write fleet.json.
	@echo "==> bench-fleet: usually takes 15 minutes for 50 clusters, of which the provider is idle for ten"
	go run ./test/fleet/bench -clusters $(CLUSTERS) -modules $(MODULES) $(ARGS)

manifests: ## Generate the CRDs, and the deepcopy code, which controller-gen writes in the same run.
	@echo "==> manifests: usually takes 1 minute the first time, then 10 seconds"
	go generate -run package/crds ./apis/...

generate: ## Generate the CRDs, the deepcopy code, docs/kymactl.md and docs/library-api.txt.
	@echo "==> generate: usually takes 3 minutes the first time, then 20 seconds"
	$(LAZY) go generate ./apis/...
	go test ./internal/cli/reference -update
	go test ./test/boundary -run TestPublicAPI -update

lint: ## Run golangci-lint, and check for banned words.
	@echo "==> lint: usually takes 3 minutes the first time, then 20 seconds"
	@go run ./hack/words
	@lint="$$($(TOOLS) path golangci-lint)" && hack/lint.sh "$$lint"

licenses: ## Check the licenses of everything that is linked into the released programs, and print how many modules have which.
	@echo "==> licenses: usually takes 30 seconds the first time, then 15 seconds"
	@$(BUILD) -o bin/licenses ./hack/licenses && exec bin/licenses

# Not part of reviewable, because it needs the network. Error 75 means that nothing was checked.
vulncheck: ## Run govulncheck on the programs. Fails with error 75 if the database (VULNDB, default: that of Go) cannot be reached.
	@echo "==> vulncheck: usually takes 2 minutes"
	@$(BUILD) -o bin/vulncheck ./hack/vulncheck && exec bin/vulncheck $(if $(VULNDB),-db '$(VULNDB)') ./cmd/...

release-sign: ## Sign the release in bin/release, which is in REGISTRY, with an identity instead of a key. For the hosted workflow.
	@echo "==> release-sign: usually takes 1 minute"
	@cosign="$$($(TOOLS) path cosign)" && hack/sign.sh "$$cosign" bin/release '$(REGISTRY)'

reviewable: generate lint test-unit ## Run the checks that a change must pass before you submit it.

check-diff: generate ## Fail if the generated files differ from those in git.
	@git diff --exit-code -- apis package docs/kymactl.md docs/library-api.txt
	@untracked="$$(git ls-files --others --exclude-standard -- apis package docs)"; \
		if [ -n "$$untracked" ]; then echo "generated files that are not in git:"; echo "$$untracked"; exit 1; fi

tools: ## Build the servers and clients for the tests and the demo.
	@echo "==> tools: usually takes 15 to 25 minutes the first time, then a second"
	$(TOOLS) build

clean: ## Remove the output of build, bench and bench-fleet. The tools stay in the cache.
	rm -rf bin bench.json fleet.json
