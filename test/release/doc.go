// SPDX-License-Identifier: Apache-2.0

// Package release tests that users can verify and install what cluster/release builds, with the tools of others: cosign, oras and the
// command line of Crossplane. It also installs a release, and upgrades it while modules run.
package release
