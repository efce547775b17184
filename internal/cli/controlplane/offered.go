// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// warnMissing prints a warning for each module of the command line that no ModuleTemplate offers in its channel. This is not an
// error, because the ModuleTemplate can be created later.
func (d *deployment) warnMissing(ctx context.Context, kyma *unstructured.Unstructured) {
	list := &v1alpha1.ModuleTemplateList{}
	if d.plane.Client.List(ctx, list) != nil {
		// If the user can't list ModuleTemplates, the status of the Kyma reports missing ones.
		return
	}
	for _, m := range notOffered(kyma, d.o.modules, list.Items) {
		d.applier.Environment.Warnf("no ModuleTemplate provides module %s in channel %s: the module is not installed until there is one", m.name, m.channel)
	}
}

// notOffered returns the modules that no template offers in their channel, with the channel set.
func notOffered(kyma *unstructured.Unstructured, modules []moduleArg, templates []v1alpha1.ModuleTemplate) []moduleArg {
	has, _, _ := unstructured.NestedSlice(kyma.Object, "spec", "forProvider", "modules")
	general, _, _ := unstructured.NestedString(kyma.Object, "spec", "forProvider", "channel")
	var out []moduleArg
	for _, m := range modules {
		if m.channel == "" {
			_, m.channel = listed(has, m.name)
		}
		if m.channel == "" {
			m.channel = general
		}
		if !offered(m, templates) {
			out = append(out, m)
		}
	}
	return out
}

// offered reports whether a template offers a module in its channel.
func offered(m moduleArg, templates []v1alpha1.ModuleTemplate) bool {
	for i := range templates {
		if templates[i].Spec.Channel == m.channel && module.NameOf(&templates[i]) == m.name {
			return true
		}
	}
	return false
}
