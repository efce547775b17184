// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/access"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/history"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/share"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/values"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/timeout"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/unmanaged"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// Options contains the options of the controller.
type Options struct {
	settings.Options

	// Namespaces reads the namespaces that can use a ClusterProviderConfig.
	Namespaces config.Namespaces
	// Secrets reads the Secrets that ProviderConfigs name.
	Secrets config.Secrets
	// Access contains the permissions for registries that flags grant.
	Access config.Access
	// Values reads the Secrets and ConfigMaps that Manifests take values from.
	Values values.Source
	// Clusters gives access to the target clusters.
	Clusters Clusters
	// Puller pulls charts and layers, and Limits bounds their unpacked size.
	Puller Puller
	Limits archive.Limits
	// Verifier verifies signatures if a ProviderConfig requires them.
	Verifier Verifier
	// Names lists the inventories that Manifests can use in addition to the ones whose names begin with their namespace.
	Names naming.Allowed
	// Origin is the control plane of the Manifests.
	Origin naming.Origin
	// Connections uses changed kubeconfigs for the connections of Clusters.
	Connections config.Connections
	// Engine applies, observes, plans and removes bundles.
	Engine Engine
}

// Setup adds the controller of Manifests. Notify the Requeuer that it returns when an object of a bundle changes in a target
// cluster, and when a cluster becomes usable.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) (*requeue.Requeuer, error) {
	name := managed.ControllerName(v1alpha1.ManifestGroupKind)
	requeuer, memory := requeue.New(ctx.Done(), requeue.WithReady(requeue.ReadyIn(ctx, mgr.GetClient()))), &checkpoint.Memory{}
	shares, sessions := share.New(o.MaxConcurrentReconciles, requeuer.Queue, share.ResponseTimes(o.Clusters.Last)), &access.Sessions{}
	o.Running = &priority.Running{}
	o.Gate = shares.WithPriorities(o.Running.Of).Gate(mgr.GetCache(), o.Shards.Owns)
	record := settings.Recorder(mgr, name)
	if err := config.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	if err := values.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.ManifestGroupVersionKind), reconcilerOptions(o, unmanaged.Connector(&connector{
		client: mgr.GetClient(),
		usage: &config.UsageTracker{
			ModernTracker: resource.NewProviderConfigUsageTracker(mgr.GetClient(), &v1alpha1.ProviderConfigUsage{}), Client: mgr.GetClient(),
		},
		spaces:   o.Namespaces,
		secrets:  o.Secrets,
		clouds:   o.Access,
		values:   values.NewReader(o.Values),
		clusters: o.Clusters,
		puller:   o.Puller,
		verifier: o.Verifier,
		limits:   o.Limits,
		names:    o.Names,
		origin:   o.Origin,
		engine:   o.Engine,
		record:   record,
		requeuer: requeuer,
		memory:   memory,
		sessions: sessions,
		// A change log distinguishes creations from updates.
		firstUpdate: o.ChangeLogOptions == nil,
		priorityOf:  o.Running.Of,
		repaired:    history.RecordRepairs(o.Logger.WithValues("controller", "history")),
	}, mgr.GetClient(), mgr.GetAPIReader()), shares, record, name)...)
	rotations, err := config.SetupRotations(mgr, o.Options.Options, o.Connections, o.Shards)
	if err != nil {
		return nil, err
	}
	w := &watches{
		client: mgr.GetClient(), requeuer: requeuer, shares: shares, memory: memory, sessions: sessions, clusters: o.Clusters, priorities: o.Priorities,
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(share.Concurrent(o.Controller())).
		Watches(&v1alpha1.Manifest{}, w.own(), builder.WithPredicates(predicate.Not(priority.FirstWrite()), resource.DesiredStateChanged())).
		Watches(&v1alpha1.ProviderConfig{}, priority.RolloutHandler(w.ofConfig), builder.WithPredicates(o.Shards.ConfigChanged())).
		Watches(&v1alpha1.ClusterProviderConfig{}, priority.RolloutHandler(w.ofConfig), builder.WithPredicates(o.Shards.ConfigChanged())).
		WatchesMetadata(&corev1.Secret{}, priority.RolloutHandler(w.ofSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesMetadata(&corev1.ConfigMap{}, priority.RolloutHandler(w.ofConfigMap), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(source.Channel(requeuer.Events(), w.own())).
		WatchesRawSource(rotations).
		WatchesRawSource(o.Shards.Queue(&v1alpha1.ManifestList{})).
		Complete(o.Shards.Limit(pacing(o, requeuer.Holding(w.forgetting(r))), &v1alpha1.Manifest{}, w.forget))
	o.Shards.OnLoss(&v1alpha1.ManifestList{}, func(m client.Object) { w.forget(client.ObjectKeyFromObject(m)) })
	return requeuer, errors.Wrapf(err, "cannot set up controller %s", name)
}

// pacing returns a reconciler that decides when a Manifest is reconciled again, and with which priority.
func pacing(o Options, r reconcile.Reconciler) reconcile.Reconciler {
	return priority.ResyncPolls(requeue.WithStopRetries(r, func() time.Duration { return settings.Spread(o.PollInterval, o.PollJitter) }), latest)
}

func reconcilerOptions(
	o Options, c managed.TypedExternalConnector[*v1alpha1.Manifest], shares *share.Shares, record event.Recorder, name string,
) []managed.ReconcilerOption {
	return append(o.Reconciler(name, record),
		managed.WithTypedExternalConnector(share.Limited(timeout.Limited(c, o.Timeout), shares)),
		managed.WithPollIntervalHook(pollIntervalHook(o.PollJitter)))
}

// watches maps events about the dependencies of a Manifest to the Manifest.
type watches struct {
	client     client.Reader
	requeuer   *requeue.Requeuer
	shares     *share.Shares
	memory     *checkpoint.Memory
	sessions   *access.Sessions
	clusters   Clusters
	priorities *priority.Tracker
	// gone contains the names of the Manifests that were deleted since their last pass.
	gone sync.Map
}

// own handles events of Manifests and of their objects in target clusters. Until it is Ready, a Manifest that a Kyma has written keeps
// the priority of the change of the Kyma.
func (w *watches) own() handler.EventHandler {
	add := func(o client.Object, q priority.Queue, p int) {
		priority.With(p, q).Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}
	cause := func(o client.Object, otherwise int) int {
		return w.priorities.Cause(client.ObjectKeyFromObject(o), otherwise)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e ctrlevent.CreateEvent, q priority.Queue) {
			p := priority.Install
			if m, ok := e.Object.(*v1alpha1.Manifest); ok && e.IsInInitialList {
				p = atStart(m)
			}
			add(e.Object, q, cause(e.Object, p))
		},
		UpdateFunc: func(_ context.Context, e ctrlevent.UpdateEvent, q priority.Queue) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				w.forget(client.ObjectKeyFromObject(e.ObjectNew)) // The Manifest was deleted and recreated while the watch was interrupted.
			}
			p := priority.User
			if !priority.IsEdit(e.ObjectOld, e.ObjectNew) {
				p = cause(e.ObjectNew, priority.User)
			}
			add(e.ObjectNew, q, p)
		},
		GenericFunc: func(_ context.Context, e ctrlevent.GenericEvent, q priority.Queue) {
			add(e.Object, q, cause(e.Object, priority.State))
		},
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q priority.Queue) {
			nn := client.ObjectKeyFromObject(e.Object)
			w.forget(nn)
			w.gone.Store(nn, nil)
			add(e.Object, q, priority.User)
		},
	}
}

// atStart returns the priority of a Manifest that exists when the provider starts. One that a Kyma has written counts as part of a rollout,
// because the provider does not store why it was written.
func atStart(m *v1alpha1.Manifest) int {
	p := priority.AtStart(m)
	if p > priority.Rollout && !meta.WasDeleted(m) && metav1.GetControllerOf(m) != nil {
		return priority.Rollout
	}
	return p
}

// forget removes everything that is kept for a Manifest.
func (w *watches) forget(nn types.NamespacedName) {
	w.requeuer.Remove(nn)
	w.shares.Forget(nn)
	w.memory.Forget(nn)
	w.sessions.Forget(nn)
	w.clusters.Forget(nn.String())
	w.priorities.RemoveCause(nn)
}

// forgetting returns a reconciler that forgets a Manifest again in the pass after its deletion. A pass that was running
// during the deletion may have connected to its cluster again.
func (w *watches) forgetting(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if _, gone := w.gone.LoadAndDelete(req.NamespacedName); gone {
			w.forget(req.NamespacedName)
		}
		return r.Reconcile(ctx, req)
	})
}

// ofConfig returns requests for the Manifests that use a config.
func (w *watches) ofConfig(ctx context.Context, o client.Object) []reconcile.Request {
	return w.manifests(ctx, config.UsersOf(o))
}

// manifests returns a request for each Manifest that fields of an index select.
func (w *watches) manifests(ctx context.Context, fields client.MatchingFields) []reconcile.Request {
	l := &v1alpha1.ManifestList{}
	if err := w.client.List(ctx, l, fields, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	out := make([]reconcile.Request, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: l.Items[i].Namespace, Name: l.Items[i].Name}})
	}
	return out
}

// ofConfigMap returns requests for the Manifests that take values from a ConfigMap.
func (w *watches) ofConfigMap(ctx context.Context, o client.Object) []reconcile.Request {
	return w.manifests(ctx, values.UsersOf(values.KindConfigMap, o))
}

// ofSecret returns requests for the Manifests whose config names a Secret, except for its kubeconfig, and for those that take values from
// it. config.Rotations queues Manifests because of a kubeconfig.
func (w *watches) ofSecret(ctx context.Context, o client.Object) []reconcile.Request {
	fields := client.MatchingFields{config.IndexSecrets: o.GetNamespace() + "/" + o.GetName()}
	out := w.manifests(ctx, values.UsersOf(values.KindSecret, o))
	pcs := &v1alpha1.ProviderConfigList{}
	if err := w.client.List(ctx, pcs, fields, client.UnsafeDisableDeepCopy); err == nil {
		for i := range pcs.Items {
			out = append(out, w.ofConfig(ctx, &pcs.Items[i])...)
		}
	}
	cpcs := &v1alpha1.ClusterProviderConfigList{}
	if err := w.client.List(ctx, cpcs, fields, client.UnsafeDisableDeepCopy); err == nil {
		for i := range cpcs.Items {
			out = append(out, w.ofConfig(ctx, &cpcs.Items[i])...)
		}
	}
	return out
}
