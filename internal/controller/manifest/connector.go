// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Clusters gives access to target clusters.
type Clusters interface {
	// Get the cluster of a config, for a user that is known by name. It sends no request.
	Get(ctx context.Context, user string, c *config.Config) (cluster.Cluster, error)
	// Last is the cluster that a user got last.
	Last(user string) (cluster.Cluster, bool)
	// Forget a user.
	Forget(user string)
}

// connector makes an external client for each pass.
type connector struct {
	client   client.Reader
	usage    resource.ModernTracker
	secrets  config.Secrets
	values   *valuesReader
	clusters Clusters
	puller   Puller
	verifier Verifier
	limits   oci.Limits
	engine   Engine
	record   event.Recorder
	routes   *routes
}

// Connect to the target cluster of a Manifest.
func (c *connector) Connect(ctx context.Context, mr *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	if meta.WasDeleted(mr) {
		return c.disconnect(ctx, mr)
	}
	e, err := c.connect(ctx, mr)
	if err != nil {
		reportError(mr, err)
		return nil, err
	}
	return e, nil
}

// disconnect is connect for a Manifest that is being deleted. What it needs may be going away at the same time, as when
// the namespace is deleted, and what is wrong with it must not keep it.
func (c *connector) disconnect(ctx context.Context, mr *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	key := client.ObjectKeyFromObject(mr)
	e := &external{
		engine: hide(c.engine, c.values.allSecrets(ctx, mr)), record: c.record, again: func() { c.routes.again(key) },
		set: &engine.Set{
			Name: externalName(mr), Owner: owner(mr), Adopt: mr.Spec.ForProvider.Adopt,
			ForceRemoval: asked(mr, v1alpha1.AnnotationForceRemoval),
			Retry:        retryToken(mr),
		},
	}
	cfg, err := config.Load(ctx, c.client, mr)
	if err == nil {
		// The parts tell in which order they go.
		if set, err := (&content{}).setOf(mr); err == nil {
			e.set = set
		}
		e.cluster, err = c.clusters.Get(ctx, key.String(), cfg)
		err = errors.Wrapf(err, "%s %s", mr.Spec.ProviderConfigReference.Kind, mr.Spec.ProviderConfigReference.Name)
	}
	c.routes.add(c.engine.ID(e.set), key)
	if err == nil {
		return e, nil
	}
	if last, ok := c.clusters.Last(key.String()); ok {
		e.cluster = last
		return e, nil
	}
	if neverInstalled(mr) {
		return nothing{}, nil
	}
	reportBlocked(mr, err, missing(err))
	if missing(err) && abandoned(mr, err, c.record) {
		return nothing{}, nil
	}
	return nil, err
}

// neverInstalled says that a Manifest never got as far as its cluster.
func neverInstalled(mr *v1alpha1.Manifest) bool {
	return meta.GetExternalName(mr) == "" && meta.GetExternalCreatePending(mr).IsZero() && mr.Status.AtProvider.Resources == nil
}

// nothing is the external client of a Manifest that has nothing in any cluster.
type nothing struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]
}

// Observe that there is nothing.
func (nothing) Observe(context.Context, *v1alpha1.Manifest) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

// Disconnect has nothing to do.
func (nothing) Disconnect(context.Context) error { return nil }

func (c *connector) connect(ctx context.Context, mr *v1alpha1.Manifest) (*external, error) {
	if err := c.usage.Track(ctx, mr); err != nil {
		return nil, errors.Wrap(err, "cannot track usage of the ProviderConfig")
	}
	cfg, err := config.Load(ctx, c.client, mr)
	if err != nil {
		return nil, err
	}
	if err := c.verify(ctx, cfg, mr); err != nil {
		return nil, err
	}
	cluster, err := c.clusters.Get(ctx, client.ObjectKeyFromObject(mr).String(), cfg)
	if err != nil {
		return nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	s := &content{puller: c.puller, limits: c.limits, regs: func(ctx context.Context) (oci.Registries, error) {
		regs, err := cfg.Registries(ctx, c.secrets)
		return regs, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}}
	set, err := s.setOf(mr)
	if err != nil {
		return nil, err
	}
	hidden, err := c.values.fill(ctx, mr.Namespace, &mr.Spec.ForProvider, set)
	if err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(mr)
	c.routes.add(c.engine.ID(set), key)
	return &external{
		engine: hide(c.engine, hidden), cluster: cluster, set: set, record: c.record,
		again: func() { c.routes.again(key) },
		rollback: &rollback{
			setOf: s.setOf, verify: func(ctx context.Context, mr *v1alpha1.Manifest) error { return c.enforce(ctx, cfg, mr) },
			hidden: hidden, now: time.Now,
		},
	}, nil
}

func list(lines []string) string {
	sort.Strings(lines)
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	return strings.Join(lines, "; ")
}
