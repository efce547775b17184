// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
)

// Connections are the connections to target clusters.
type Connections interface {
	// Changed reports that credentials of some config have changed. An attempt to connect that began before is repeated.
	Changed()
	// Rotate uses the current credentials of a config for the connection of its users, which are Manifests, as namespace/name. It returns
	// the users that have to connect again, and whether the others can use their connection now. If not, they are queued when they can.
	Rotate(ctx context.Context, c *Config, users []string) (left []string, connected bool, err error)
}

// Rotations uses changed kubeconfigs without a pass over the Manifests that use them, where this is possible, and queues the others. A
// change of any other Secret that a config names is not its concern.
type Rotations struct {
	client      client.Reader
	connections Connections
	kind        string
	manifests   *atomic.Pointer[priority.Queue]
}

// queueTime is the time after which a config is reconciled again if the controller of Manifests has not started yet.
const queueTime = 250 * time.Millisecond

// SetupRotations adds the controllers that use changed kubeconfigs. The caller must have added the indexes of Index. It returns a source
// for the controller of Manifests, which queues, with low priority, those that have to connect again.
func SetupRotations(mgr ctrl.Manager, o controller.Options, connections Connections, shards *sharding.Shards) (source.Source, error) {
	manifests := &atomic.Pointer[priority.Queue]{}
	for _, k := range kinds() {
		r := &Rotations{client: mgr.GetClient(), connections: connections, kind: k.name, manifests: manifests}
		name := "rotation/" + strings.ToLower(k.group)
		object, _ := k.fresh()
		err := ctrl.NewControllerManagedBy(mgr).
			Named(name).
			WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: o.MaxConcurrentReconciles, RateLimiter: ratelimiter.NewController()}).
			WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.ofSecret(k.list)),
				builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
			Complete(shards.Limit(r, object, nil))
		if err != nil {
			return nil, errors.Wrapf(err, "cannot set up controller %s", name)
		}
	}
	return source.Func(func(_ context.Context, q priority.Queue) error {
		q = priority.With(priority.Rollout, q)
		manifests.Store(&q)
		return nil
	}), nil
}

// ofSecret returns a function that returns requests for the configs whose kubeconfig is in a Secret. list is an empty list of their kind.
func (r *Rotations) ofSecret(list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, secret client.Object) []reconcile.Request {
		l, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return nil
		}
		fields := client.MatchingFields{indexCredentials: secret.GetNamespace() + "/" + secret.GetName()}
		var out []reconcile.Request
		err := r.client.List(ctx, l, fields, client.UnsafeDisableDeepCopy)
		if err == nil {
			err = meta.EachListItem(l, func(o runtime.Object) error {
				if c, ok := o.(client.Object); ok {
					out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
				}
				return nil
			})
		}
		if err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Cannot list the configs that use a Secret", "kind", r.kind, "secret", client.ObjectKeyFromObject(secret))
		}
		return out
	}
}

// Reconcile uses the current kubeconfig of a config. It queues the Manifests that have to connect again, and those whose last pass failed,
// because the kubeconfig can be the reason.
func (r *Rotations) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	queue := r.manifests.Load()
	if queue == nil {
		return reconcile.Result{RequeueAfter: queueTime}, nil
	}
	// A Manifest that connects for the first time from here on uses the current kubeconfig, so it need not be in the list below.
	r.connections.Changed()
	c, err := Load(ctx, r.client, req.Namespace, &xpv2.ProviderConfigReference{Kind: r.kind, Name: req.Name})
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	l := &v1alpha1.ManifestList{}
	if err := r.client.List(ctx, l, client.MatchingFields{indexConfig: keyOf(c.Kind, c.Namespace, c.Name)}, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot list Manifests")
	}
	users := make([]string, 0, len(l.Items))
	for i := range l.Items {
		users = append(users, client.ObjectKeyFromObject(&l.Items[i]).String())
	}
	left, connected, err := r.connections.Rotate(ctx, c, users)
	if err != nil {
		return reconcile.Result{}, errors.Wrapf(err, "%s %s", c.Kind, c.Name)
	}
	for i := range l.Items {
		m := &l.Items[i]
		if slices.Contains(left, users[i]) || connected && m.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse {
			(*queue).Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)})
		}
	}
	return reconcile.Result{}, nil
}
