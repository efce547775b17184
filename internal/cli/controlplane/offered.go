// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// warnMissing warns of modules that were asked for, and that no ModuleTemplate offers in their channel. The template may
// come later, so that it is no error.
func (d *deployment) warnMissing(ctx context.Context, kyma *unstructured.Unstructured) {
	list := &v1alpha1.ModuleTemplateList{}
	if d.k.List(ctx, list) != nil {
		// Who may not see the catalogue is told by the Kyma.
		return
	}
	for _, m := range notOffered(kyma, d.o.modules, list.Items) {
		d.e.Warnf("no ModuleTemplate offers module %s in channel %s: it is not installed before there is one", m.name, m.channel)
	}
}

// notOffered are those of some modules that no template has in their channel, with that channel.
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

func offered(m moduleArg, templates []v1alpha1.ModuleTemplate) bool {
	for i := range templates {
		if templates[i].Spec.Channel == m.channel && module.NameOf(&templates[i]) == m.name {
			return true
		}
	}
	return false
}
