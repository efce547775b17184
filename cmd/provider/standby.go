// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// unservedOnStandby is the interval at which a standby checks for kinds that are not served yet.
const unservedOnStandby = time.Minute

// An informerSource starts informers. The cache of a manager implements it.
type informerSource interface {
	GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error)
}

// A standby is a runnable of the manager that lists and watches what the controllers need while another replica is the leader. The controllers,
// which start when this replica becomes the leader, then find the objects in the cache, and do not have to list the whole fleet first.
type standby struct {
	informers informerSource
	// kinds contains an object of each kind, in the form in which the controllers watch it.
	kinds []client.Object
	// elected is closed when this replica is the leader.
	elected <-chan struct{}
	log     logging.Logger
}

// watchedKinds returns an object of each kind that the controllers of steps watch.
func watchedKinds(scheme *runtime.Scheme, steps []step) ([]client.Object, error) {
	secret, configMap := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	out, seen := []client.Object{secret, configMap}, map[schema.GroupVersionKind]bool{}
	for i := range steps {
		for _, gvk := range steps[i].kinds {
			if seen[gvk] {
				continue
			}
			seen[gvk] = true
			o, err := scheme.New(gvk)
			if err != nil {
				return nil, errors.Wrapf(err, "cannot watch kind %s", gvk.Kind)
			}
			if o, ok := o.(client.Object); ok {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// NeedLeaderElection returns false: a standby works until the replica is the leader.
func (s *standby) NeedLeaderElection() bool { return false }

// Start starts the informers of all kinds that are served, until all are started or the replica is the leader.
func (s *standby) Start(ctx context.Context) error {
	for left := s.kinds; ; {
		select {
		case <-s.elected:
			return nil
		default:
		}
		if left = s.watch(ctx, left); len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.elected:
			return nil
		case <-time.After(unservedOnStandby):
		}
	}
}

// watch starts the informers of kinds, and returns the kinds for which this is not possible yet.
func (s *standby) watch(ctx context.Context, kinds []client.Object) (left []client.Object) {
	for _, o := range kinds {
		_, err := s.informers.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err == nil {
			continue
		}
		left = append(left, o)
		if !meta.IsNoMatchError(err) && ctx.Err() == nil {
			// If it continues, the controllers, which need the kind, report it too.
			s.log.Info("Cannot watch a kind on standby", "kind", fmt.Sprintf("%T", o), "error", err.Error())
		}
	}
	return left
}
