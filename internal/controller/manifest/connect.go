// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/access"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/ready"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/values"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Clusters gives access to target clusters.
type Clusters interface {
	// Get returns the cluster of a config. consumer is a name that identifies the user of the cluster. Get sends no request.
	Get(ctx context.Context, consumer string, c *config.Config) (cluster.Cluster, error)
	// Last returns the cluster that a consumer got last, and whether there is one.
	Last(consumer string) (cluster.Cluster, bool)
	// Misplaced records whether the objects of a consumer are in a different cluster than the one that Get returned last.
	Misplaced(consumer string, yes bool)
	// Forget removes a consumer.
	Forget(consumer string)
}

// A connector returns an external client for each pass.
type connector struct {
	client   client.Reader
	usage    resource.ModernTracker
	spaces   config.Namespaces
	secrets  config.Secrets
	clouds   config.Access
	values   *values.Reader
	sessions *access.Sessions
	clusters Clusters
	puller   Puller
	verifier Verifier
	limits   archive.Limits
	names    naming.Allowed
	origin   naming.Origin
	engine   Engine
	record   event.Recorder
	requeuer *requeue.Requeuer
	memory   *checkpoint.Memory
	// firstUpdate is set if Update can perform the first install; see settings.IsFirstUpdate.
	firstUpdate bool
	// priorityOf returns the priority of a Manifest that is being reconciled.
	priorityOf func(types.NamespacedName) int
	// repaired records that a step repaired drift of objects.
	repaired func(mr *v1alpha1.Manifest, objects int, took time.Duration)
}

// Connect connects a Manifest to its target cluster. If this fails, it reports the reason, because Observe is not called.
func (c *connector) Connect(ctx context.Context, mr *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	// The external client redacts errors. Until it exists, functions that read Secrets must not include their values in errors.
	report := &reporter{recorder: c.record}
	if meta.WasDeleted(mr) {
		e, can, err := c.connectRemoval(ctx, mr)
		switch {
		case can == removable:
			return e, nil
		case can == needless, report.blocked(mr, can, err):
			return nothing{}, nil
		}
		return nil, err
	}
	e, verified, err := c.connect(ctx, mr)
	if w := (*waitError)(nil); errors.As(err, &w) {
		after := func(d time.Duration) { c.requeuer.After(client.ObjectKeyFromObject(mr), d) }
		return &waiting{report: report, after: after, err: w.error}, nil
	}
	if err != nil {
		report.verification(mr, verified)
		return nil, report.failure(mr, err)
	}
	return e, nil
}

// connect returns the external client of a Manifest, and the result of verifying its signatures, which is nil before the verification.
func (c *connector) connect(ctx context.Context, mr *v1alpha1.Manifest) (*external, *verification, error) {
	if err := c.usage.Track(ctx, mr); err != nil {
		return nil, nil, errors.Wrap(err, "cannot track usage of the ProviderConfig")
	}
	cfg, err := c.config(ctx, mr)
	if err != nil {
		return nil, nil, err
	}
	key := client.ObjectKeyFromObject(mr)
	cluster, err := c.clusters.Get(ctx, key.String(), cfg)
	if err != nil {
		return nil, nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	c.prioritize(cluster, key)
	// The following calls can send requests. A Manifest that has to wait anyway must not cause any.
	if err := checkReady(cluster); err != nil {
		return nil, nil, &waitError{err}
	}
	verified := c.verify(ctx, cfg, mr)
	if err := verified.refusal(); err != nil {
		return nil, verified, err
	}
	user, err := cfg.User(mr.Namespace, mr.Spec.ForProvider.Impersonate)
	if err != nil {
		return nil, verified, err
	}
	if cluster, err = c.restrict(key, cluster, cfg, user); err != nil {
		return nil, verified, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	sources := c.sources(cfg)
	bundle, err := sources.bundleOf(mr)
	if err != nil {
		return nil, verified, ready.Final(err)
	}
	secrets, err := c.values.Fill(ctx, mr.Namespace, &mr.Spec.ForProvider, bundle)
	if err != nil {
		return nil, verified, err
	}
	origin := c.origin.Of(ctx, c.client, mr)
	e := c.external(key, cluster, origin.Mark(bundle), secrets)
	e.verified, e.firstUpdate, e.repaired = verified, c.firstUpdate, c.repaired
	e.decider = &decider{
		bundle: bundle, report: e.report, now: time.Now,
		desired: sync.OnceValues(func() (*checkpoint.Snapshot, error) { return checkpoint.New(mr, bundle, secrets) }),
		restore: func(ctx context.Context, mr *v1alpha1.Manifest) (*manifest.Bundle, error) {
			if err := c.enforce(ctx, cfg, mr); err != nil {
				return nil, err
			}
			restored, err := sources.bundleOf(mr)
			return origin.Mark(unshared(restored)), err
		},
	}
	return e, verified, nil
}

// unshared marks the values of a restored bundle, which can be nil, as those of its tenant: they were stored together with Secrets.
func unshared(b *manifest.Bundle) *manifest.Bundle {
	if b != nil {
		for i := range b.Installs {
			b.Installs[i].Shared = false
		}
	}
	return b
}

// connectRemoval connects a Manifest that is being deleted. Its dependencies may be deleted at the same time, as with its
// namespace, and a mistake in them must not block the removal: the last connection and the name of the inventory are enough. A
// namespace that is no longer allowed to use the config can still remove what it has installed, but nothing else.
func (c *connector) connectRemoval(ctx context.Context, mr *v1alpha1.Manifest) (*external, removal, error) {
	key := client.ObjectKeyFromObject(mr)
	bundle := outlineOf(mr)
	var cluster cluster.Cluster
	cfg, err := config.Load(ctx, c.client, mr.Namespace, mr.Spec.ProviderConfigReference)
	refused := err == nil && cfg.Allow(ctx, c.spaces, mr.Namespace) != nil
	if refused && neverInstalled(mr) {
		return nil, needless, nil
	}
	if err == nil {
		// The parts of the whole bundle determine the order of their removal.
		if whole, err := (&content{}).bundleOf(mr); err == nil {
			bundle = whole
		}
		if cluster, err = c.clusters.Get(ctx, key.String(), cfg); err == nil {
			c.prioritize(cluster, key)
		}
		err = errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	found, user := err == nil, c.sessions.Of(key).User()
	if found {
		// A refused impersonation still returns the user of the config, which is the only one that can have installed anything.
		user, _ = cfg.User(mr.Namespace, mr.Spec.ForProvider.Impersonate)
	} else {
		cluster, found = c.clusters.Last(key.String())
	}
	if found {
		as, failed := c.restrict(key, cluster, cfg, user)
		if failed != nil {
			return nil, blocked, failed
		}
		cluster = as
	}
	bundle.Adopt = bundle.Adopt && !refused
	e := c.external(key, cluster, c.origin.Of(ctx, c.client, mr).Mark(bundle), c.values.Secrets(ctx, mr))
	return e, removalOf(mr, found, err), err
}

// config returns the ProviderConfig of a Manifest that is allowed to use it, and whose inventory has an allowed name.
func (c *connector) config(ctx context.Context, mr *v1alpha1.Manifest) (*config.Config, error) {
	if err := c.names.Check(mr); err != nil {
		return nil, ready.Final(err)
	}
	cfg, err := config.Load(ctx, c.client, mr.Namespace, mr.Spec.ProviderConfigReference)
	if err != nil {
		return nil, err
	}
	return cfg, cfg.Allow(ctx, c.spaces, mr.Namespace)
}

// restrict returns a cluster that sends requests as a user and only allows the lookups that the config of a Manifest allows.
// cfg is nil if the config no longer exists, as can happen for removals, which render nothing.
func (c *connector) restrict(key client.ObjectKey, cl cluster.Cluster, cfg *config.Config, user string) (cluster.Cluster, error) {
	session := c.sessions.Of(key)
	session.SetUser(user)
	o := access.Options{User: user, Lookup: v1alpha1.LookupDenied, Secrets: &session.Secrets}
	if cfg != nil {
		o.Lookup, o.Origin = cfg.Lookup(), cfg.Kind+" "+cfg.Name
	}
	return access.New(cl, o)
}

// external returns an external client, and registers the bundle and its cluster, so that a change of its objects queues the Manifest.
func (c *connector) external(key client.ObjectKey, cluster cluster.Cluster, bundle *manifest.Bundle, secrets []any) *external {
	of, removeFromBundle, misplaced := checkpoint.Subject{ObjectKey: key, UID: types.UID(bundle.OwnerUID)}, func() {}, func(bool) {}
	var sharer *requeue.Sharer
	// There might be no cluster for a removal.
	if cluster != nil {
		of.Cluster = cluster.Identity()
		c.requeuer.Add(c.engine.ID(bundle), of.Cluster, key)
		removeFromBundle = func() { c.requeuer.RemoveFromBundle(key) }
		misplaced = func(yes bool) { c.clusters.Misplaced(key.String(), yes) }
		sharer = c.requeuer.SharerOf(of.Cluster, key)
	}
	report := &reporter{recorder: c.record, redactor: redact.NewGrowing(&c.sessions.Of(key).Secrets, secrets...)}
	return &external{
		engine: c.engine, cluster: cluster, subject: of, memory: c.memory, report: report,
		removeFromBundle: removeFromBundle, misplaced: misplaced, sharer: sharer, watcher: c.requeuer.WatcherOf(key),
		choice: choice{bundle: bundle, report: report},
		again:  func() { c.requeuer.Again(key) }, after: func(d time.Duration) { c.requeuer.After(key, d) },
	}
}

// sources returns a content that pulls from the registries of a config.
func (c *connector) sources(cfg *config.Config) *content {
	return &content{puller: c.puller, limits: c.limits, regs: func(ctx context.Context) (oci.Registries, error) {
		regs, err := cfg.Registries(ctx, c.secrets, c.clouds)
		return regs, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}}
}
