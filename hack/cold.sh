#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a target of the Makefile, demo-check by default, as a new user would: from a
# fresh clone of the current commit, with an empty home directory, build cache and tool
# cache. Only the module cache is reused, so that the duration of downloads doesn't
# matter. Each line of output begins with the seconds since the start.
#
#   hack/cold.sh [TARGET]
set -euo pipefail

target=${1:-demo-check}
source=$(git rev-parse --show-toplevel)
modules=$(go env GOMODCACHE)
proxy=$(go env GOPROXY)
sums=$(go env GONOSUMDB)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

git clone -q "$source" "$dir/clone"
mkdir "$dir/home" "$dir/tmp"
cd "$dir/clone"
echo "cold: make $target at $(git rev-parse --short HEAD), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown), $(go version)"

begin=$SECONDS
set +e
env -i PATH="$PATH" HOME="$dir/home" TMPDIR="$dir/tmp" LANG="${LANG:-C.UTF-8}" \
  GOMODCACHE="$modules" GOPROXY="$proxy" GONOSUMDB="$sums" \
  make "$target" 2>&1 | while IFS= read -r line; do printf '%5d  %s\n' $((SECONDS - begin)) "$line"; done
result=${PIPESTATUS[0]}
set -e
echo "cold: make $target exited with $result after $((SECONDS - begin)) s; load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
exit "$result"
