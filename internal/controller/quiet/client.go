// SPDX-License-Identifier: Apache-2.0

package quiet

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// New is a manager's NewClient function. The client it makes leaves out an update of a ProviderConfig or
// ClusterProviderConfig, and of the status of these and of a Manifest, that is what the cache holds already.
func New(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)
	if err != nil {
		return nil, err
	}
	return &quietClient{Client: c}, nil
}

type quietClient struct {
	client.Client
}

// Update an object, unless it is there already.
func (c *quietClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	held := false
	switch want := obj.(type) {
	case *v1alpha1.ProviderConfig:
		held = holds(ctx, c.Client, &v1alpha1.ProviderConfig{}, want, func(have *v1alpha1.ProviderConfig) bool {
			return equal(have.ObjectMeta, want.ObjectMeta, have.Spec, want.Spec)
		})
	case *v1alpha1.ClusterProviderConfig:
		held = holds(ctx, c.Client, &v1alpha1.ClusterProviderConfig{}, want, func(have *v1alpha1.ClusterProviderConfig) bool {
			return equal(have.ObjectMeta, want.ObjectMeta, have.Spec, want.Spec)
		})
	}
	if held {
		return nil
	}
	return c.Client.Update(ctx, obj, opts...)
}

func equal(have, want metav1.ObjectMeta, haveSpec, wantSpec v1alpha1.ProviderConfigSpec) bool {
	return equality.Semantic.DeepEqual(have, want) && equality.Semantic.DeepEqual(haveSpec, wantSpec)
}

func (c *quietClient) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Client.Status(), reader: c.Client}
}

type writer struct {
	client.SubResourceWriter

	reader client.Reader
}

// Update the status, unless it is there already.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	held := false
	switch want := obj.(type) {
	case *v1alpha1.Manifest:
		held = holds(ctx, w.reader, &v1alpha1.Manifest{}, want, func(have *v1alpha1.Manifest) bool {
			return equality.Semantic.DeepEqual(have.Status, want.Status)
		})
	case *v1alpha1.ProviderConfig:
		held = holds(ctx, w.reader, &v1alpha1.ProviderConfig{}, want, func(have *v1alpha1.ProviderConfig) bool {
			return equality.Semantic.DeepEqual(have.Status, want.Status)
		})
	case *v1alpha1.ClusterProviderConfig:
		held = holds(ctx, w.reader, &v1alpha1.ClusterProviderConfig{}, want, func(have *v1alpha1.ClusterProviderConfig) bool {
			return equality.Semantic.DeepEqual(have.Status, want.Status)
		})
	}
	if held {
		return nil
	}
	return w.SubResourceWriter.Update(ctx, obj, opts...)
}

// holds says whether the cache holds an object as it is to be written. The cache may be behind: then the resource
// versions differ, the update is sent, and the API server decides.
func holds[T client.Object](ctx context.Context, cache client.Reader, have, want T, same func(have T) bool) bool {
	err := cache.Get(ctx, client.ObjectKeyFromObject(want), have)
	return err == nil && have.GetResourceVersion() == want.GetResourceVersion() && same(have)
}
