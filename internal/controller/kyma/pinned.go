// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A pin is the Kyma that a pass is about, as it was read first. What was handed on to its Manifests is good for this one
// only: had the managed reconciler another one, which was changed and deleted in between, it would let it go though its
// Manifests do not know yet.
type pin struct {
	kyma *v1alpha1.Kyma
	used atomic.Bool
}

type pinKey struct{}

// pinned is a context in which a Kyma is read once more as it is.
func pinned(ctx context.Context, k *v1alpha1.Kyma) context.Context {
	return context.WithValue(ctx, pinKey{}, &pin{kyma: k.DeepCopy()})
}

// pinningManager is a manager whose client respects pins.
type pinningManager struct {
	ctrl.Manager
}

// GetClient returns the client.
func (m pinningManager) GetClient() client.Client {
	return pinningClient{Client: m.Manager.GetClient()}
}

type pinningClient struct {
	client.Client
}

// Get an object. It is what was pinned the first time, which begins a pass; who reads again wants to know what is new.
func (c pinningClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	k, ok := obj.(*v1alpha1.Kyma)
	p, _ := ctx.Value(pinKey{}).(*pin)
	if ok && p != nil && client.ObjectKeyFromObject(p.kyma) == key && p.used.CompareAndSwap(false, true) {
		p.kyma.DeepCopyInto(k)
		return nil
	}
	return c.Client.Get(ctx, key, obj, opts...)
}
