// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// defaultChecker returns a checker of the policies of an object that sets none. It is shared: a checker allocates much, and nearly all objects of a
// fleet have the default.
//
//nolint:gochecknoglobals // It does not change.
var defaultChecker = sync.OnceValue(func() managed.ManagementPoliciesChecker {
	return managed.NewManagementPoliciesResolver(true, xpv2.ManagementPolicies{xpv2.ManagementActionAll})
})

// AllowsAll reports whether management policies are the default, which allows everything.
func AllowsAll(p xpv2.ManagementPolicies) bool {
	return len(p) == 1 && p[0] == xpv2.ManagementActionAll
}

// CheckerOf returns a checker of management policies. Without the feature, enabled is false.
func CheckerOf(enabled bool, p xpv2.ManagementPolicies) managed.ManagementPoliciesChecker {
	if enabled && AllowsAll(p) {
		return defaultChecker()
	}
	return managed.NewManagementPoliciesResolver(enabled, p)
}
