// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// warnMissing prints a warning for each module of the command line that is not offered in its channel. This is not an error, because
// the ModuleTemplate can be created later.
func (d *deployment) warnMissing(ctx context.Context, kyma *unstructured.Unstructured) {
	offer, err := catalog.Offered(ctx, d.plane.Client)
	if err != nil {
		// If the user can't list ModuleTemplates or ModuleReleaseMetas, the status of the Kyma reports missing ones.
		return
	}
	for _, w := range notOffered(kyma, d.o.modules, offer) {
		d.applier.Environment.Warnf("%s", w)
	}
}

// notOffered returns a warning for each module that is not offered in its channel.
func notOffered(kyma *unstructured.Unstructured, modules []moduleArg, offer catalog.Releases) []string {
	has, _, _ := unstructured.NestedSlice(kyma.Object, "spec", "forProvider", "modules")
	general, _, _ := unstructured.NestedString(kyma.Object, "spec", "forProvider", "channel")
	var out []string
	for _, m := range modules {
		if m.channel == "" {
			_, m.channel = listed(has, m.name)
		}
		m.channel = catalog.ChannelOf(m.channel, general)
		switch _, err := offer.Find(m.name, m.channel); {
		case err == nil || resolving(m, offer):
		case command.CodeOf(err) == command.ExitNotFound:
			out = append(out, fmt.Sprintf("no ModuleTemplate provides module %s in channel %s: the module is not installed until there is one", m.name, m.channel))
		default:
			out = append(out, err.Error())
		}
	}
	return out
}

// resolving reports whether a ModuleReleaseMeta has a module in its channel, and a ModuleTemplate might provide the version: the
// provider has not resolved the ModuleTemplate yet, which deploy has possibly just created.
func resolving(m moduleArg, offer catalog.Releases) bool {
	all := offer.Of(m.name)
	return slices.ContainsFunc(all.In(m.channel), func(r catalog.Release) bool { return r.ReleaseMeta != "" && r.Template == "" }) &&
		slices.ContainsFunc(all, func(r catalog.Release) bool { return r.Template != "" && r.Version == "" })
}
