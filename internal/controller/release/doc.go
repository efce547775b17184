// SPDX-License-Identifier: Apache-2.0

// Package release is the controller of ModuleReleaseMetas. It moves the rollout of each version on, by the rules in internal/rollout,
// and keeps its state in the status. It changes no Kyma: the controller of Kymas reads the status, and decides for each Kyma which version
// it has.
package release
