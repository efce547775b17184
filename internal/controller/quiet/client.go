// SPDX-License-Identifier: Apache-2.0

package quiet

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// New is a manager's NewClient function. The client it makes leaves out an update of the status of a Manifest that is
// what the cache holds already.
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

func (c *quietClient) Status() client.SubResourceWriter {
	return &writer{SubResourceWriter: c.Client.Status(), reader: c.Client}
}

type writer struct {
	client.SubResourceWriter

	reader client.Reader
}

// Update the status, unless it is there already. The cache may be behind: then the resource versions differ, the update
// is sent, and the API server decides.
func (w *writer) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if want, ok := obj.(*v1alpha1.Manifest); ok {
		have := &v1alpha1.Manifest{}
		err := w.reader.Get(ctx, client.ObjectKeyFromObject(obj), have)
		if err == nil && have.ResourceVersion == want.ResourceVersion && equality.Semantic.DeepEqual(have.Status, want.Status) {
			return nil
		}
	}
	return w.SubResourceWriter.Update(ctx, obj, opts...)
}
