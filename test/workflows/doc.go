// SPDX-License-Identifier: Apache-2.0

// Package workflows checks the configuration of the hosted repository in .github: the workflows with actionlint and with the rules
// of this repository, the forms for issues, and Renovate. See docs/decisions/0083-hosted-ci.md.
package workflows
