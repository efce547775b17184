// SPDX-License-Identifier: Apache-2.0

package unmanaged

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
)

// Is reports whether the objects of a module stay in the cluster without being managed.
func Is(m *v1alpha1.Module) bool { return m.Managed != nil && !*m.Managed }

// IsLeft reports whether the objects of a Manifest stay in the cluster because its Kyma, which is being deleted, does not manage the module. The Kyma
// can be deleted before the Manifest is detached.
func IsLeft(k *v1alpha1.Kyma, m *v1alpha1.Manifest) bool {
	o := moduleOf(k, m)
	return meta.WasDeleted(k) && o != nil && Is(o) && !slices.ContainsFunc(k.Status.AtProvider.Modules, func(s v1alpha1.ModuleStatus) bool {
		return s.Name == o.Name && s.Origin == v1alpha1.ModuleOriginMandatory
	})
}

// moduleOf returns the module of a Manifest in the spec of a Kyma, or nil.
func moduleOf(k *v1alpha1.Kyma, m *v1alpha1.Manifest) *v1alpha1.Module {
	all := k.Spec.ForProvider.Modules
	i := slices.IndexFunc(all, func(o v1alpha1.Module) bool { return naming.OfModule(k.Name, o.Name) == m.Name })
	if i < 0 {
		return nil
	}
	return &all[i]
}
