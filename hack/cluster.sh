#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The make targets that change a cluster. KUBECONFIG must be set, and its current context is used. Without it, kubectl would use ~/.kube/config, or
# the cluster that it runs in.
#
#   hack/cluster.sh install|uninstall|deploy|undeploy|run
#
# install applies the CRDs, deploy also the provider with the image IMG; uninstall and undeploy delete what these made.
# run only checks that the provider can work there.
set -eu
cd "$(dirname "$0")/.."

target=$1
crds=package/crds
role=examples/rbac/control-plane.yaml
deployment=package/deployment.yaml

fail() {
	echo "make $target: error: $*" >&2
	exit 1
}

# ask reads the cluster, and ends with one line of what kubectl says where that fails.
ask() {
	answer=$("$kubectl" --request-timeout=10s "$@" 2>&1) || fail "cannot use the cluster at $server: $(echo "$answer" | tail -n 1)"
}

# find the CRDs that the cluster has, by name, separated by commas.
find_crds() {
	ask get -f $crds --ignore-not-found -o name
	found=$(echo "$answer" | sed 's|.*/||' | paste -s -d , -)
}

# refuse_packaged fails if the CRDs belong to a package of Crossplane, which would revert changes.
refuse_packaged() {
	ask get -f $crds --ignore-not-found -o 'jsonpath={range ..ownerReferences[*]}{.kind} {.name}{"\n"}{end}'
	[ -z "$answer" ] || fail "the CRDs in the cluster at $server belong to $(echo "$answer" | head -n 1), which brings the provider too"
}

# refuse_used ends where there are objects of the kinds, which would never go without the provider.
refuse_used() {
	[ -n "$found" ] || return 0
	ask get "$found" --all-namespaces --ignore-not-found -o name
	[ -z "$answer" ] || fail "$(echo "$answer" | wc -l | tr -d ' ') objects would be lost, $(echo "$answer" | head -n 1) among them:" \
		"delete them first, while the provider runs"
}

apply() { "$kubectl" apply --server-side "$@"; }

delete() { "$kubectl" delete --ignore-not-found --timeout=2m "$@"; }

install_crds() {
	refuse_packaged
	apply -f $crds
	"$kubectl" wait --for=condition=Established --timeout=1m -f $crds >/dev/null
}

[ -n "${KUBECONFIG:-}" ] || fail "set KUBECONFIG to the kubeconfig of the cluster, as in: make $target KUBECONFIG=control-plane.kubeconfig"
kubectl=$(go run ./cluster/tools/cmd/tools path kubectl)
server=$("$kubectl" config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>&1) && [ -n "$server" ] ||
	fail "KUBECONFIG=$KUBECONFIG does not specify a cluster: ${server:-it has no server}"
echo "the cluster of $KUBECONFIG is at $server"
ask get --raw=/version

case $target in
install)
	install_crds
	;;
uninstall)
	refuse_packaged
	find_crds
	refuse_used
	delete -f $crds
	;;
deploy)
	install_crds
	sed "s|image: .*|image: $IMG|" $deployment | apply -f $role -f -
	echo "to wait until it runs: kubectl rollout status deployment/provider-kyma -n provider-kyma-system"
	;;
undeploy)
	refuse_packaged
	find_crds
	refuse_used
	delete -f $deployment -f $role -f $crds
	;;
run)
	find_crds
	[ "$(echo "$answer" | wc -l)" -eq "$(ls $crds/*.yaml | wc -l)" ] ||
		fail "the cluster at $server does not have all CRDs of the provider: run make install first"
	;;
*)
	fail "there is no such target"
	;;
esac
