// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/timeout"
)

// writers is the number of clusters that are reconciled at the same time. It limits the load on the API server while a change reaches
// a fleet.
const writers = 4

// Setup adds the controller of KymaSets.
func Setup(ctx context.Context, mgr ctrl.Manager, o settings.Options) error {
	name := "kymaset/" + strings.ToLower(v1alpha1.KymaSetGroupKind)
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r := newReconciler(mgr.GetClient(), mgr.GetAPIReader(), o)
	r.sets.record = settings.Recorder(mgr, name)
	r.access.cache, r.access.mapper = mgr.GetCache(), mgr.GetRESTMapper()
	options := o.Controller()
	options.MaxConcurrentReconciles = min(writers, max(1, options.MaxConcurrentReconciles))
	// A replica that gains the shard must not rely on what it knew before.
	o.Shards.OnChange(r.sets.invalidate)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(options).
		For(&v1alpha1.KymaSet{}, builder.WithPredicates(setChanged())).
		Watches(&v1alpha1.ProviderConfig{}, clusterHandler(configChanged)).
		Watches(&v1alpha1.Kyma{}, clusterHandler(kymaChanged)).
		WatchesRawSource(source.Func(func(_ context.Context, q priority.Queue) error {
			r.sets.enqueue.start(q)
			return nil
		})).
		WatchesRawSource(o.Shards.Queue(&v1alpha1.KymaSetList{})).
		Build(o.Shards.Global(r))
	if err != nil {
		return errors.Wrapf(err, "cannot set up controller %s", name)
	}
	r.access.watch = c.Watch
	return nil
}

// A reconciler reconciles KymaSets and clusters.
type reconciler struct {
	sets     *sets
	clusters *clusters
	access   *access
	timeout  time.Duration
}

func newReconciler(c client.Client, server client.Reader, o settings.Options) *reconciler {
	f := &fleet{client: c, access: &access{client: c, watched: map[schema.GroupKind]watched{}}}
	f.access.handlers = map[schema.GroupKind]handler.EventHandler{
		namespaceKind: namespaceHandler(f.inNamespace),
		clusterKind:   clusterHandler(metadataChanged),
	}
	s := &sets{client: c, server: server, fleet: f, enqueue: &enqueuer{}, poll: settings.Spread(o.PollInterval, o.PollJitter), passes: map[string]*pass{}}
	return &reconciler{
		sets: s, clusters: &clusters{fleet: f, writer: newWriter(c, server), report: s.report}, access: f.access, timeout: o.Timeout,
	}
}

// Reconcile reconciles a KymaSet, or a cluster.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := timeout.With(ctx, r.timeout)
	defer cancel()
	if isSet(req) {
		res, err := r.sets.reconcile(ctx, req.Name)
		return res, timeout.Explain(ctx, err)
	}
	err := r.clusters.reconcile(ctx, req.NamespacedName)
	if errors.Is(err, errOutdated) {
		return reconcile.Result{RequeueAfter: spacing}, nil
	}
	if u := (*undecidedError)(nil); errors.As(err, &u) {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return reconcile.Result{}, timeout.Explain(ctx, err)
}
