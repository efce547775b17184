#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs all fuzz targets in sequence, each for an equal part of the time. Failing inputs are written to testdata/fuzz of the package:
# commit them with the fix.
#
#   hack/fuzz.sh SECONDS [PATTERN]
#
# PATTERN is a regular expression for PACKAGE/TARGET, such as internal/ocm/ or FuzzParse.
set -eu
cd "$(dirname "$0")/.."

seconds=$1
pattern=${2:-.}
targets=$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sed 's|^\./\(.*\)/[^/]*:func |\1/|' | sort | grep -E -- "$pattern") || {
	echo "hack/fuzz.sh: error: no target matches $pattern" >&2
	exit 1
}
each=$((seconds / $(echo "$targets" | wc -l)))
[ "$each" -gt 0 ] || each=1
failed=
for t in $targets; do
	echo "==> $t for ${each}s"
	go test -run '^$' -fuzz "^${t##*/}\$" -fuzztime "${each}s" "./${t%/*}" || failed="$failed $t"
done
[ -z "$failed" ] || {
	echo "hack/fuzz.sh: error: these targets failed:$failed" >&2
	exit 1
}
