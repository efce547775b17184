// SPDX-License-Identifier: Apache-2.0

// Package controlplane contains the commands deploy and undeploy, which set up a control plane for modules, and remove what
// deploy created.
package controlplane
