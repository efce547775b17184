// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
)

// Shards decides which objects this replica reconciles. A nil *Shards reconciles all objects. It is safe for concurrent use.
type Shards struct {
	owner  *shard.Owner
	reader client.Reader
	count  int
	log    logging.Logger
	moves  moves
}

// New returns Shards for a number of shards. The reader must read from a cache.
func New(owner *shard.Owner, reader client.Reader, count int, log logging.Logger) *Shards {
	return &Shards{
		owner: owner, reader: reader, count: count, log: log, moves: moves{labels: map[configKey]string{}, until: map[configKey]time.Time{}},
	}
}

// A configKey identifies a ProviderConfig or a ClusterProviderConfig.
type configKey struct {
	types.NamespacedName

	kind string
}

// String returns the text from which the shard of a config is derived.
func (k configKey) String() string { return k.kind + "/" + k.Namespace + "/" + k.Name }

// keyOf returns the key of a config. Other kinds count as ProviderConfigs, so that a replica reports them as invalid.
func keyOf(kind, namespace, name string) configKey {
	if kind == v1alpha1.ClusterProviderConfigKind {
		return configKey{kind: kind, NamespacedName: types.NamespacedName{Name: name}}
	}
	return configKey{kind: v1alpha1.ProviderConfigKind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// configOf returns the key of the config that an object is or uses, and whether there is one.
func configOf(o client.Object) (configKey, bool) {
	var ref *xpv2.ProviderConfigReference
	switch o := o.(type) {
	case *v1alpha1.ProviderConfig:
		return keyOf(v1alpha1.ProviderConfigKind, o.Namespace, o.Name), true
	case *v1alpha1.ClusterProviderConfig:
		return keyOf(v1alpha1.ClusterProviderConfigKind, "", o.Name), true
	case *v1alpha1.Kyma:
		ref = o.Spec.ProviderConfigReference
	case *v1alpha1.Manifest:
		ref = o.Spec.ProviderConfigReference
	}
	if ref == nil {
		return configKey{}, false
	}
	return keyOf(ref.Kind, o.GetNamespace(), ref.Name), true
}

// ofConfig returns the shard of a config, and its label. The label of a config that does not exist is unknown, and nothing can be done
// for it.
func (s *Shards) ofConfig(ctx context.Context, k configKey) (int, string, error) {
	var o client.Object = &v1alpha1.ProviderConfig{}
	if k.kind == v1alpha1.ClusterProviderConfigKind {
		o = &v1alpha1.ClusterProviderConfig{}
	}
	err := s.reader.Get(ctx, k.NamespacedName, o, client.UnsafeDisableDeepCopy)
	if notfound.Ignore(err) != nil {
		return 0, "", errors.Wrapf(err, "cannot get %s %s", k.kind, k.NamespacedName)
	}
	label := ""
	if err == nil {
		label = o.GetLabels()[v1alpha1.LabelShard]
	}
	n, err := strconv.Atoi(label)
	if err != nil || n < 0 || n >= s.count {
		n = shard.Of(k.String(), s.count)
	}
	return n, label, nil
}

// of returns the shard of an object.
func (s *Shards) of(ctx context.Context, o client.Object) (int, error) {
	if k, ok := configOf(o); ok {
		n, _, err := s.ofConfig(ctx, k)
		return n, err
	}
	return 0, nil
}

// place returns the shard of an object, and how long to wait before any work on it. If no other replica holds a shard, the wait is zero.
func (s *Shards) place(ctx context.Context, o client.Object) (int, time.Duration, error) {
	k, ok := configOf(o)
	if !ok {
		return 0, 0, nil
	}
	n, label, err := s.ofConfig(ctx, k)
	if err != nil {
		return 0, 0, err
	}
	wait := s.moves.wait(k, label)
	if wait > 0 && len(s.owner.Held()) == s.count {
		wait = 0
	}
	return n, wait, nil
}

// Owns reports whether this replica reconciles an object.
func (s *Shards) Owns(ctx context.Context, o client.Object) bool {
	if s == nil {
		return true
	}
	n, err := s.of(ctx, o)
	return err == nil && s.owner.Holds(n)
}

// Limit returns a reconciler that calls r only for objects of shards that this replica holds. The context of a call ends when the
// replica loses the shard. object is an empty object of the kind. dropped is called for an object of another replica, to remove what is
// kept for it. It can be nil.
func (s *Shards) Limit(r reconcile.Reconciler, object client.Object, dropped func(types.NamespacedName)) reconcile.Reconciler {
	if s == nil {
		return r
	}
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		o, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return reconcile.Result{}, errors.Errorf("%T has no metadata", object)
		}
		err := s.reader.Get(ctx, req.NamespacedName, o, client.UnsafeDisableDeepCopy)
		if notfound.Is(err) {
			return r.Reconcile(shard.Without(ctx), req) // It has nothing to do but to remove what is kept.
		}
		if err != nil {
			return reconcile.Result{}, errors.Wrap(err, "cannot get the object to find its shard")
		}
		n, wait, err := s.place(ctx, o)
		if err != nil {
			return reconcile.Result{}, err
		}
		if !s.owner.Holds(n) {
			if dropped != nil {
				dropped(req.NamespacedName)
			}
			return reconcile.Result{}, nil
		}
		if wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		work, leave, ok := s.owner.Enter(ctx, n, func() bool {
			now, err := s.of(context.WithoutCancel(ctx), o)
			return err == nil && now == n
		})
		if !ok {
			return reconcile.Result{}, nil
		}
		defer leave()
		res, err := r.Reconcile(work, req)
		if work.Err() != nil {
			// The objects of a shard are queued again when it is gained again.
			return reconcile.Result{}, nil
		}
		return res, err
	})
}

// Global returns a reconciler that calls r only while this replica holds shard 0, to which all objects without a config belong. Unlike
// Limit, it does not read the object of a request, so that requests need not be names of objects.
func (s *Shards) Global(r reconcile.Reconciler) reconcile.Reconciler {
	if s == nil {
		return r
	}
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		work, leave, ok := s.owner.Enter(ctx, 0, func() bool { return true })
		if !ok {
			return reconcile.Result{}, nil
		}
		defer leave()
		res, err := r.Reconcile(work, req)
		if work.Err() != nil {
			// The objects of a shard are queued again when it is gained again.
			return reconcile.Result{}, nil
		}
		return res, err
	})
}

// Queue returns a source that queues the objects of gained shards, with the priority of a poll. list is an empty list of the kind.
func (s *Shards) Queue(list client.ObjectList) source.Source {
	return source.Func(func(ctx context.Context, q priority.Queue) error {
		if s == nil {
			return nil
		}
		s.owner.OnGain(func(shards []int) {
			go func() {
				if err := s.each(ctx, list, shards, func(o client.Object) {
					priority.With(priority.Resync, q).Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
				}); err != nil && ctx.Err() == nil {
					s.log.Info("Cannot queue the objects of shards", "shards", shards, "error", err)
				}
			}()
		})
		return nil
	})
}

// OnLoss calls a function for each object of a shard that this replica loses, after all work in the shard has ended. list is an empty
// list of the kind.
func (s *Shards) OnLoss(list client.ObjectList, f func(client.Object)) {
	if s == nil {
		return
	}
	s.owner.OnLoss(func(shards []int) {
		if err := s.each(context.Background(), list, shards, f); err != nil {
			s.log.Info("Cannot list the objects of shards", "shards", shards, "error", err)
		}
	})
}

// OnChange calls a function after this replica has gained or lost shards.
func (s *Shards) OnChange(f func()) {
	if s == nil {
		return
	}
	s.owner.OnGain(func([]int) { f() })
	s.owner.OnLoss(func([]int) { f() })
}

// each calls a function for each object of some shards. The function must not change the object.
func (s *Shards) each(ctx context.Context, list client.ObjectList, shards []int, f func(client.Object)) error {
	in := map[int]bool{}
	for _, n := range shards {
		in[n] = true
	}
	l, ok := list.DeepCopyObject().(client.ObjectList)
	if !ok {
		return errors.Errorf("%T is not a list", list)
	}
	if err := s.reader.List(ctx, l, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Wrap(err, "cannot list from the cache")
	}
	return meta.EachListItem(l, func(o runtime.Object) error {
		object, ok := o.(client.Object)
		if !ok {
			return errors.Errorf("%T has no metadata", o)
		}
		n, err := s.of(ctx, object)
		if err == nil && in[n] {
			f(object)
		}
		return err
	})
}

// CheckConfig returns an error if the work of a context does not belong to the shard of a config.
func (s *Shards) CheckConfig(ctx context.Context, kind, namespace, name string) error {
	if s == nil {
		return nil
	}
	if err := s.owner.CheckWork(ctx); err != nil {
		return err
	}
	n, _, err := s.ofConfig(ctx, keyOf(kind, namespace, name))
	if err != nil {
		return err
	}
	if of, ok := shard.FromContext(ctx); !ok || of != n {
		return shard.ErrNotHeld
	}
	return nil
}
