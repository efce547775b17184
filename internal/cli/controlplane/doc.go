// SPDX-License-Identifier: Apache-2.0

// Package controlplane contains the commands deploy, which sets up a control plane for modules, and undeploy, which removes what
// deploy created.
package controlplane
