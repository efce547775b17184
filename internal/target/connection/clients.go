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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/target/informer"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

// A watchClient lists and watches objects for the cache: metadata as protobuf, whole objects as JSON.
type watchClient struct {
	watches

	// config is the config of clients for lists. Most API servers need no lists, and thousands of connections must not keep clients for them.
	config func() *rest.Config
	get    notfound.GetFunc
}

var _ informer.Client = &watchClient{}

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
	rc := c.config()
	client := &http.Client{Transport: rc.Transport}
	if r.MetadataOnly {
		all, err := metadata.NewForConfigAndClient(rc, client)
		if err != nil {
			return nil, errors.Wrap(err, "cannot create a client")
		}
		return all.Resource(r.GroupVersionResource).List(ctx, o)
	}
	all, err := dynamic.NewForConfigAndClient(rc, client)
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client")
	}
	return all.Resource(r.GroupVersionResource).List(ctx, o)
}

// Served reports whether the cluster serves a kind.
func (c *watchClient) Served(ctx context.Context, gvk schema.GroupVersionKind) (bool, error) {
	return notfound.Served(ctx, c.get, gvk)
}
