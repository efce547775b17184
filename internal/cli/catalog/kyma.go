// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// defaultChannel is the channel of a Kyma that does not set one.
const defaultChannel = "regular"

// ChannelOf returns the channel of a module: its own, the one of its Kyma, or the default. An empty argument means not set.
func ChannelOf(own, kyma string) string {
	switch {
	case own != "":
		return own
	case kyma != "":
		return kyma
	}
	return defaultChannel
}

// Enables reports whether a Kyma has a module enabled.
func Enables(k *v1alpha1.Kyma, name string) bool {
	return slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool { return m.Name == name })
}

// EnabledNames returns the names of the modules that a Kyma enables, in the order of its spec.
func EnabledNames(k *v1alpha1.Kyma) []string {
	var out []string
	for i := range k.Spec.ForProvider.Modules {
		out = append(out, k.Spec.ForProvider.Modules[i].Name)
	}
	return out
}

// StatusOf returns the status of a module in a Kyma, and whether the Kyma has one.
func StatusOf(k *v1alpha1.Kyma, name string) (v1alpha1.ModuleStatus, bool) {
	for _, s := range k.Status.AtProvider.Modules {
		if s.Name == name {
			return s, true
		}
	}
	return v1alpha1.ModuleStatus{}, false
}

// IndexOf returns the index of a module in the list of modules of an unstructured Kyma, or -1.
func IndexOf(modules []any, name string) int {
	for i := range modules {
		if m, ok := modules[i].(map[string]any); ok && m["name"] == name {
			return i
		}
	}
	return -1
}
