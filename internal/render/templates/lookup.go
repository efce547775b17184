// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"context"
	"net/http"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// LookupFunc is the template function lookup. Without a name, it lists objects, and without a namespace, it lists them in all
// namespaces. For a missing object, or for a kind that does not exist in a served API version, it returns an empty map, so that
// {{ if lookup … }} works. As in Helm, it fails if the API version is not served.
type LookupFunc func(apiVersion, kind, namespace, name string) (map[string]any, error)

func noLookup(string, string, string, string) (map[string]any, error) {
	return map[string]any{}, nil
}

// NewLookup returns a lookup function for the cluster of cfg. It creates its clients at the first call, and caches the
// resources of an API version for one rendering, which runs in a single goroutine.
func NewLookup(ctx context.Context, cfg *rest.Config) LookupFunc {
	if cfg == nil {
		return noLookup
	}
	l := &lookup{cfg: cfg, served: map[string]*metav1.APIResourceList{}}
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		return l.get(ctx, apiVersion, kind, namespace, name)
	}
}

type lookup struct {
	cfg    *rest.Config
	client *http.Client
	served map[string]*metav1.APIResourceList
}

func (l *lookup) get(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	r, ok, err := l.resource(ctx, apiVersion, kind, namespace)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot look up %s in %s", kind, apiVersion)
	}
	if !ok {
		return map[string]any{}, nil
	}
	content, err := read(ctx, r, name)
	if name != "" && notfound.IsObject(err, "", name) {
		return map[string]any{}, nil
	}
	return content, errors.Wrapf(notfound.Explain(err), "cannot look up %s in %s", kind, apiVersion)
}

func read(ctx context.Context, r dynamic.ResourceInterface, name string) (map[string]any, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	if name == "" {
		list, err := r.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.UnstructuredContent(), nil
	}
	obj, err := r.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return obj.UnstructuredContent(), nil
}

func (l *lookup) resource(ctx context.Context, apiVersion, kind, namespace string) (dynamic.ResourceInterface, bool, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, false, err
	}
	if l.client == nil {
		if l.client, err = rest.HTTPClientFor(l.cfg); err != nil {
			return nil, false, err
		}
	}
	served, err := l.kinds(ctx, gv)
	if err != nil {
		return nil, false, err
	}
	for _, r := range served.APIResources {
		if r.Kind != kind || strings.Contains(r.Name, "/") {
			continue
		}
		dc, err := dynamic.NewForConfigAndClient(l.cfg, l.client)
		if err != nil {
			return nil, false, err
		}
		client := dc.Resource(gv.WithResource(r.Name))
		if r.Namespaced && namespace != "" {
			return client.Namespace(namespace), true, nil
		}
		return client, true, nil
	}
	return nil, false, nil
}

func (l *lookup) kinds(ctx context.Context, gv schema.GroupVersion) (*metav1.APIResourceList, error) {
	if list, ok := l.served[gv.String()]; ok {
		return list, nil
	}
	dc, err := discovery.NewDiscoveryClientForConfigAndClient(l.cfg, l.client)
	if err != nil {
		return nil, err
	}
	list, err := dc.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		return nil, err
	}
	if len(list.APIResources) == 0 {
		// The client treats any 404 as the response of a very old API server.
		return nil, &notfound.Error{Host: l.cfg.Host}
	}
	l.served[gv.String()] = list
	return list, nil
}
