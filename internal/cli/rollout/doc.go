// SPDX-License-Identifier: Apache-2.0

// Package rollout contains the commands of kymactl rollout, which show and control how the Kymas in a release channel change to
// a new version of a module.
package rollout
