// SPDX-License-Identifier: Apache-2.0

// Package catalogue selects the version of a module that a Kyma has now, among the ModuleTemplates of the module. It reads nothing: all
// inputs are values.
//
// A module has one of these sources, in this order:
//
//   - The Kyma pins a version. Channels and rollouts have no effect.
//   - A ModuleReleaseMeta makes a version mandatory for the Kyma.
//   - A ModuleReleaseMeta has the channel. Its status says how far the rollout of the version has come.
//   - A ModuleTemplate has the channel.
//
// A ModuleTemplate with a channel may exist beside a ModuleReleaseMeta that has the channel, as long as both have the same version.
// Otherwise, the channel is ambiguous.
package catalogue
