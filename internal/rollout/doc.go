// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which Kymas have which version of a module while a new version spreads over a fleet. All decisions are
// pure functions of the status of a ModuleReleaseMeta, its RolloutPolicy, and the labels and UID of a Kyma, so that nothing
// that grows with the fleet is stored, and a restart repeats and loses nothing.
package rollout
