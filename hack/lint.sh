#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs golangci-lint, whose path is the argument, on a copy of this checkout. The copy always has the same path: the keys of the
# linter's cache contain the paths of files, so the linter would otherwise start from scratch in each clone.
set -euo pipefail
cd "$(dirname "$0")/.."
linter=$1
export GOGC=200

if ! command -v flock >/dev/null || ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  GOLANGCI_LINT_CACHE="$PWD/bin/lint" exec "$linter" run ./...
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/provider-kyma/lint
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
rm -rf "$cache/source"
mkdir "$cache/source"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar -c --null -T - -f - | tar -x -C "$cache/source" -f -
cd "$cache/source"
GOLANGCI_LINT_CACHE="$cache/results" "$linter" run ./...
