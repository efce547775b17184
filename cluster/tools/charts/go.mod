module github.com/crossplane-contrib/provider-kyma/cluster/tools/charts

go 1.26.0

// Charts of others, for tests. They are read from the zips of these modules.
require (
	github.com/kyverno/kyverno v1.13.4
	github.com/open-policy-agent/gatekeeper/v3 v3.18.2
	previous.example.org/gatekeeper v0.0.0
	previous.example.org/kyverno v0.0.0
)

// The same modules at the versions before, from which the charts are upgraded. A
// module has one version here, so the older one goes by another name.
replace (
	previous.example.org/gatekeeper => github.com/open-policy-agent/gatekeeper/v3 v3.17.1
	previous.example.org/kyverno => github.com/kyverno/kyverno v1.13.2
)
