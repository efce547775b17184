// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A watchClient lists and watches objects for the cache: metadata as protobuf, whole objects as JSON.
type watchClient struct {
	watches

	objects  dynamic.Interface
	metadata metadata.Interface
	get      notfound.GetFunc
}

var _ informer.Client = &watchClient{}

func newWatchClient(rc *rest.Config, client *http.Client, get notfound.GetFunc, r *reopening) (*watchClient, error) {
	requests, err := RESTClient(rc, &http.Client{Transport: &typed{client.Transport}})
	if err != nil {
		return nil, err
	}
	o, err := dynamic.NewForConfigAndClient(rc, client)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewForConfigAndClient(rc, client)
	if err != nil {
		return nil, err
	}
	return &watchClient{objects: o, metadata: m, get: get, watches: watches{rest: requests, reopening: r}}, nil
}

// listTime is the maximum duration of a list request. Lists can be large, but no worker waits for them.
const listTime = time.Minute

// List lists the objects of all namespaces. If a page is too large, it requests a smaller one.
func (c *watchClient) List(ctx context.Context, r informer.Resource, o metav1.ListOptions) (runtime.Object, error) {
	for {
		list := runtime.Object(nil)
		err := c.reopening.do(ctx, func() (err error) {
			list, err = c.page(ctx, r, o)
			return err
		})
		if !transport.IsTooLarge(err) || o.Limit < smaller {
			return list, err
		}
		o.Limit /= smaller
	}
}

// smaller is the factor by which the size of a page is reduced if the page is too large.
const smaller = 10

func (c *watchClient) page(ctx context.Context, r informer.Resource, o metav1.ListOptions) (runtime.Object, error) {
	ctx = transport.WithLimit(ctx, listTime)
	if r.MetadataOnly {
		return c.metadata.Resource(r.GroupVersionResource).List(ctx, o)
	}
	return c.objects.Resource(r.GroupVersionResource).List(ctx, o)
}

// Served reports whether the cluster serves a kind.
func (c *watchClient) Served(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	return notfound.Served(ctx, c.get, gvk)
}
