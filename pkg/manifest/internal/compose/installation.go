// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"cmp"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/config"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Installation is an install with its settings from the config of the bundle.
type Installation struct {
	*bundle.Install

	// Namespace is the namespace of objects that do not specify one.
	Namespace string
	// Release is the release of the chart, or the zero value if the install is not a chart.
	Release inventory.Release
	// KeepNamespaces is true if a missing namespace must not be created.
	KeepNamespaces bool
	Config         config.Settings
}

func newInstallation(in *bundle.Install, c config.Settings) *Installation {
	out := &Installation{Install: in, Namespace: cmp.Or(c.Namespace, in.Namespace), Config: c}
	out.KeepNamespaces = c.CreateNamespace != nil && !*c.CreateNamespace
	if in.Form == bundle.FormChart {
		out.Release = inventory.Release{Namespace: out.Namespace, Name: cmp.Or(c.ReleaseName, in.Name)}
	}
	return out
}

// optionsIn adds the options of the installation to o, the options for rendering a chart in a cluster.
func (i *Installation) optionsIn(o render.Options) render.Options {
	o.ReleaseName, o.Namespace = i.Release.Name, i.Namespace
	o.Values, o.Overrides, o.Shared = i.Values, i.Config.Overrides, i.Shared
	o.SkipCRDs, o.SkipSchema = i.Config.SkipCRDs, i.Config.SkipSchemaValidation
	return o
}

// recordConfig records the settings of the install that must be known without its config.
func (i *Installation) recordConfig(r *inventory.Part) {
	r.Wait, r.Atomic, r.Own = i.Config.Wait, i.Config.Atomic, i.Config.TakeOwnership
	r.HookTimeout = int64(i.Config.Timeout / time.Second)
}
