#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Signs a release that make release built and pushed without a key: with a certificate for the identity of the workflow, which cosign
# finds in its environment. Somewhere else, cosign asks for an identity in a browser.
#
#   hack/sign.sh COSIGN DIRECTORY REGISTRY
#
# DIRECTORY contains digests.txt, with the name and the digest of each artifact and of its images for platforms, and SHA256SUMS.
set -eu
cosign=$1
dir=$2
registry=$3

fail() {
	echo "make release-sign: error: $*" >&2
	exit 1
}

[ -n "$registry" ] || fail "set REGISTRY to the registry of the release, for example: make release-sign REGISTRY=registry.example.org/kyma"
[ -f "$dir/digests.txt" ] || fail "there is no release in $dir: run make release first"
# Those for platforms are signed with the index that contains them.
artifacts=$(grep -v -E -- '-linux-(amd64|arm64) ' "$dir/digests.txt") || fail "$dir/digests.txt names no artifact"
# The signatures of artifacts have the format of cosign 2, because that is what Crossplane and admission controllers verify.
echo "$artifacts" | while read -r name digest; do
	"$cosign" sign --recursive --new-bundle-format=false --use-signing-config=false --yes "$registry/$name@$digest"
done
"$cosign" sign-blob --use-signing-config=false --bundle "$dir/SHA256SUMS.sigstore.json" --yes "$dir/SHA256SUMS"
