#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The make targets that change a cluster. KUBECONFIG must be set, and its current context is used. Without it, kubectl would use ~/.kube/config, or
# the cluster that it runs in.
#
#   hack/cluster.sh install|uninstall|deploy|undeploy|run
#
# install applies the CRDs, deploy also the objects of the Helm chart, with the image IMG; uninstall and undeploy delete what these applied.
# run only checks that the cluster has all CRDs.
set -eu
cd "$(dirname "$0")/.."

target=$1
crds=package/crds
system=provider-kyma-system

fail() {
	echo "make $target: error: $*" >&2
	exit 1
}

# ask runs kubectl. If it fails, ask exits with the last line of its output.
ask() {
	answer=$("$kubectl" --request-timeout=10s "$@" 2>&1) || fail "cannot use the cluster at $server: $(echo "$answer" | tail -n 1)"
}

# find_crds lists the names of the CRDs in the cluster, separated by commas.
find_crds() {
	ask get -f $crds --ignore-not-found -o name
	found=$(echo "$answer" | sed 's|.*/||' | paste -s -d , -)
}

# refuse_packaged fails if the CRDs belong to a package of Crossplane, which would revert changes.
refuse_packaged() {
	ask get -f $crds --ignore-not-found -o 'jsonpath={range ..ownerReferences[*]}{.kind} {.name}{"\n"}{end}'
	[ -z "$answer" ] || fail "the CRDs in the cluster at $server belong to $(echo "$answer" | head -n 1), which also installs the provider"
}

# refuse_used fails if there are objects of these kinds, because without the provider, they cannot be deleted.
refuse_used() {
	[ -n "$found" ] || return 0
	ask get "$found" --all-namespaces --ignore-not-found -o name
	[ -z "$answer" ] || fail "the cluster at $server still has objects of these kinds, such as $(echo "$answer" | head -n 1)" \
		"($(echo "$answer" | wc -l | tr -d ' ') in total): delete them first, while the provider is running"
}

# render prints the objects of the chart, and their namespace, with the image IMG.
render() {
	helm=$(go run ./cluster/tools/cmd/tools path helm)
	printf '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "%s"}}\n---\n' $system
	"$helm" template provider-kyma charts/provider-kyma --namespace $system | sed "s|image: .*|image: ${IMG:-none}|"
}

apply() { "$kubectl" apply --server-side "$@"; }

delete() { "$kubectl" delete --ignore-not-found --timeout=2m "$@"; }

install_crds() {
	refuse_packaged
	apply -f $crds
	"$kubectl" wait --for=condition=Established --timeout=1m -f $crds >/dev/null
}

[ -n "${KUBECONFIG:-}" ] || fail "set KUBECONFIG to the kubeconfig of the cluster, for example: make $target KUBECONFIG=control-plane.kubeconfig"
kubectl=$(go run ./cluster/tools/cmd/tools path kubectl)
server=$("$kubectl" config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>&1) && [ -n "$server" ] ||
	fail "KUBECONFIG=$KUBECONFIG does not specify a cluster: ${server:-the server is missing}"
echo "using the cluster at $server from $KUBECONFIG"
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
	objects=$(render)
	echo "$objects" | apply -f -
	echo "to wait until the provider is running: kubectl rollout status deployment/provider-kyma -n $system"
	;;
undeploy)
	refuse_packaged
	find_crds
	refuse_used
	objects=$(render)
	echo "$objects" | delete -f -
	delete -f $crds
	;;
run)
	find_crds
	[ "$(echo "$answer" | wc -l)" -eq "$(ls $crds/*.yaml | wc -l)" ] ||
		fail "the cluster at $server does not have all CRDs of the provider: run make install first"
	;;
*)
	fail "unknown target"
	;;
esac
