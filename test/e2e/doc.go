// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the provider as users of Crossplane use it: as a package that Crossplane installs from a registry, with the
// permissions that Crossplane grants it, below compositions and claims. Crossplane, its functions, the control plane and the
// target cluster are all real. All specs share them; each works in its own namespace in either cluster, and leaves nothing
// behind.
package e2e
