// SPDX-License-Identifier: Apache-2.0

package quiet

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// remembered is how many objects are known by the version that was written last.
const remembered = 50_000

// How often, and for how long each time, the cache is waited for. It shows a write within milliseconds.
const (
	looks = 50
	pause = 2 * time.Millisecond
)

// New is a manager's NewClient function. The client it makes leaves out an update of a ProviderConfig or
// ClusterProviderConfig, and of the status of these, of a Kyma, a Manifest or a ModuleTemplate, that is what the API server holds already.
func New(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)
	if err != nil {
		return nil, err
	}
	return newClient(c), nil
}

func newClient(c client.Client) *quietClient {
	return &quietClient{Client: c, written: lru.New(remembered)}
}

type quietClient struct {
	client.Client

	// written is the resource version that each object got from us last, by UID.
	written *lru.Cache
}

// Get an object. One that we have written is waited for until the cache shows that, if only for a moment: otherwise the pass
// that follows a write at once would begin with what was before, and end in a conflict.
func (c *quietClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	for i := 0; i < looks && err == nil && c.behind(obj) && sleep(ctx); i++ {
		err = c.Client.Get(ctx, key, obj, opts...)
	}
	return err
}

// behind says whether an object is older than what we have written.
func (c *quietClient) behind(obj client.Object) bool {
	if blank(obj) == nil {
		return false
	}
	order, ok := c.order(obj)
	return ok && order < 0
}

// order of an object and what we have written of it: negative for an older one, positive for one that somebody else has
// written since. Versions that are no numbers cannot be compared, unless they are equal.
func (c *quietClient) order(obj client.Object) (order int, ok bool) {
	last, known := c.written.Get(obj.GetUID())
	if !known || last == obj.GetResourceVersion() {
		return 0, true
	}
	written, _ := last.(string)
	want, err := strconv.ParseUint(written, 10, 64)
	if err != nil {
		return 0, false
	}
	have, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	return cmp.Compare(have, want), err == nil
}

// sleep for a moment, unless there is no time left.
func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// Update a config, unless it is there already, or another object. Each update of another kind is meant.
func (c *quietClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	switch obj.(type) {
	case *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		if have := c.cached(ctx, obj); have != nil && sameConfig(have, obj) {
			return nil
		}
	}
	err := c.Client.Update(ctx, obj, opts...)
	c.remember(obj, err)
	return err
}

// Patch an object.
func (c *quietClient) Patch(ctx context.Context, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
	err := c.Client.Patch(ctx, obj, p, opts...)
	c.remember(obj, err)
	return err
}

// Status returns a writer that leaves out what is there already.
func (c *quietClient) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Client.Status(), client: c}
}

type writer struct {
	client.SubResourceWriter

	client *quietClient
}

// Update the status, unless it is there already.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if have := w.client.cached(ctx, obj); have != nil && sameStatus(have, obj) {
		return nil
	}
	err := w.SubResourceWriter.Update(ctx, obj, opts...)
	w.client.remember(obj, err)
	return err
}

func (c *quietClient) remember(obj client.Object, err error) {
	if err == nil && blank(obj) != nil {
		c.written.Add(obj.GetUID(), obj.GetResourceVersion())
	}
}

// cached is the object as the cache holds it, if that can be relied on; nil otherwise. It cannot if the cache is at
// another version than the object, nor if we have written a version since that neither shows: then the update is sent,
// and the API server decides.
func (c *quietClient) cached(ctx context.Context, obj client.Object) client.Object {
	have := blank(obj)
	if have == nil {
		return nil
	}
	if order, ok := c.order(obj); !ok || order < 0 {
		return nil
	}
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(obj), have); err != nil || have.GetResourceVersion() != obj.GetResourceVersion() {
		return nil
	}
	return have
}

// blank object of the same kind, for the kinds that this is about.
func blank(obj client.Object) client.Object {
	switch obj.(type) {
	case *v1alpha1.Kyma:
		return &v1alpha1.Kyma{}
	case *v1alpha1.Manifest:
		return &v1alpha1.Manifest{}
	case *v1alpha1.ModuleTemplate:
		return &v1alpha1.ModuleTemplate{}
	case *v1alpha1.ProviderConfig:
		return &v1alpha1.ProviderConfig{}
	case *v1alpha1.ClusterProviderConfig:
		return &v1alpha1.ClusterProviderConfig{}
	}
	return nil
}

func sameStatus(have, want client.Object) bool {
	return equality.Semantic.DeepEqual(status(have), status(want))
}

func status(obj client.Object) any {
	switch obj := obj.(type) {
	case *v1alpha1.Kyma:
		return obj.Status
	case *v1alpha1.Manifest:
		return obj.Status
	case *v1alpha1.ModuleTemplate:
		return obj.Status
	case *v1alpha1.ProviderConfig:
		return obj.Status
	case *v1alpha1.ClusterProviderConfig:
		return obj.Status
	}
	return nil
}

// sameConfig compares all but the status.
func sameConfig(have, want client.Object) bool {
	switch want := want.(type) {
	case *v1alpha1.ProviderConfig:
		h, ok := have.(*v1alpha1.ProviderConfig)
		return ok && equality.Semantic.DeepEqual(h.ObjectMeta, want.ObjectMeta) && equality.Semantic.DeepEqual(h.Spec, want.Spec)
	case *v1alpha1.ClusterProviderConfig:
		h, ok := have.(*v1alpha1.ClusterProviderConfig)
		return ok && equality.Semantic.DeepEqual(h.ObjectMeta, want.ObjectMeta) && equality.Semantic.DeepEqual(h.Spec, want.Spec)
	}
	return false
}
