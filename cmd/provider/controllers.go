// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/kyma"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/kymaset"
	manifestcontroller "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/history"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/moduletemplate"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/release"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// controllers contains the dependencies of the provider's controllers.
type controllers struct {
	mgr     ctrl.Manager
	flags   *flags
	metrics *metrics.Metrics
	// manifests contains the options of the Manifest controller. The other controllers share parts of them.
	manifests manifestcontroller.Options
	notify    *changes
	attempts  *config.Attempts
	// resolver reads the components of ModuleTemplates, and keys verify their signatures.
	resolver moduletemplate.Resolver
	keys     []ocm.Key
}

// steps returns the steps that set up the controllers, with the kinds that each controller watches or reads.
func (c *controllers) steps(ctx context.Context) []step {
	configs := []schema.GroupVersionKind{
		v1alpha1.ProviderConfigGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind, v1alpha1.ProviderConfigUsageGroupVersionKind,
	}
	with := func(kinds ...schema.GroupVersionKind) []schema.GroupVersionKind { return append(kinds, configs...) }
	return []step{
		{name: "ProviderConfigs", kinds: configs, setup: func() error { return c.configs(ctx) }},
		{
			name:  "ModuleTemplates",
			kinds: []schema.GroupVersionKind{v1alpha1.ModuleTemplateGroupVersionKind, v1alpha1.ClusterProviderConfigGroupVersionKind},
			setup: func() error { return c.templates(ctx) },
		},
		{
			name:  "Manifests",
			kinds: with(v1alpha1.ManifestGroupVersionKind),
			setup: func() error { return c.setupManifests(ctx) },
		},
		{
			name: "Kymas",
			kinds: with(v1alpha1.KymaGroupVersionKind, v1alpha1.ModuleTemplateGroupVersionKind, v1alpha1.ManifestGroupVersionKind,
				v1alpha1.ModuleReleaseMetaGroupVersionKind, v1alpha1.RolloutPolicyGroupVersionKind),
			after: "Manifests",
			setup: func() error { return c.kymas(ctx) },
		},
		{
			name: "ModuleReleaseMetas",
			kinds: with(v1alpha1.KymaGroupVersionKind, v1alpha1.ModuleTemplateGroupVersionKind, v1alpha1.ManifestGroupVersionKind,
				v1alpha1.ModuleReleaseMetaGroupVersionKind, v1alpha1.RolloutPolicyGroupVersionKind),
			after: "Kymas",
			setup: func() error { return c.releases(ctx) },
		},
		{
			name:  "KymaSets",
			kinds: []schema.GroupVersionKind{v1alpha1.KymaSetGroupVersionKind, v1alpha1.KymaGroupVersionKind, v1alpha1.ProviderConfigGroupVersionKind},
			setup: func() error { return kymaset.Setup(ctx, c.mgr, c.manifests.Options) },
		},
	}
}

func (c *controllers) configs(ctx context.Context) error {
	if err := c.manifests.Shards.Watch(ctx, c.mgr.GetCache()); err != nil {
		return err
	}
	return config.Setup(ctx, c.mgr, c.manifests.Options.Options, c.attempts, c.manifests.Shards)
}

func (c *controllers) templates(ctx context.Context) error {
	return moduletemplate.Setup(ctx, c.mgr, moduletemplate.Options{
		Options:        c.manifests.Options.Options,
		Resolver:       c.resolver,
		Keys:           c.keys,
		RegistryConfig: c.flags.moduleRegistryConfig,
		Secrets:        c.manifests.Secrets,

		Access:  c.manifests.Access,
		Shards:  c.manifests.Shards,
		Timeout: c.flags.timeout,
	})
}

func (c *controllers) setupManifests(ctx context.Context) error {
	var err error
	if c.manifests.Origin.ControlPlane, err = controlPlaneUIDs(ctx, c.mgr.GetAPIReader(), c.mgr.GetClient()); err != nil {
		return err
	}
	requeuer, err := manifestcontroller.Setup(ctx, c.mgr, c.manifests)
	if err != nil {
		return err
	}
	c.notify.to.Store(requeuer)
	log := c.manifests.Logger.WithValues("controller", "history")
	changed := history.NewRecorder(log, func(t history.Type, took time.Duration) { c.metrics.ChangeSeconds.Observe(string(t), took) })
	return c.record(&v1alpha1.Manifest{}, v1alpha1.ManifestGroupVersionKind, changed)
}

func (c *controllers) kymas(ctx context.Context) error {
	if err := kyma.Setup(ctx, c.mgr, kyma.Options{
		Options:      c.manifests.Options,
		ControlPlane: c.flags.controlPlaneConfig,
	}); err != nil {
		return err
	}
	return c.record(&v1alpha1.Kyma{}, v1alpha1.KymaGroupVersionKind, nil)
}

func (c *controllers) releases(ctx context.Context) error {
	return release.Setup(ctx, c.mgr, release.Options{
		Options: c.manifests.Options.Options, Spread: c.flags.defaultSpread, Shards: c.manifests.Shards,
	})
}

// record registers the metrics of a kind of managed resource with the manager. changed records the changes of Manifests.
func (c *controllers) record(o client.Object, kind schema.GroupVersionKind, changed *history.Recorder) error {
	s := &states{
		cache: c.mgr.GetCache(), reader: c.mgr.GetCache(), shards: c.manifests.Shards, log: c.manifests.Logger, kind: o,
		objects: c.metrics.Objects(kind), history: changed,
	}
	return errors.Wrap(c.mgr.Add(s), "cannot set up the metrics of managed resources")
}
