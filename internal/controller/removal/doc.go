// SPDX-License-Identifier: Apache-2.0

// Package removal deletes objects of the kinds of the provider with the permissions that Crossplane grants, which do not include
// delete: see docs/decisions/0011-kyma-over-manifests.md.
package removal
