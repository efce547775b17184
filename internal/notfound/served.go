// SPDX-License-Identifier: Apache-2.0

package notfound

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
)

// A GetFunc sends a GET request to an absolute path and returns the response. Its errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type GetFunc func(ctx context.Context, path string) ([]byte, error)

// Getter returns a GetFunc for a REST config.
func Getter(rc *rest.Config) (GetFunc, error) {
	c, err := discovery.NewDiscoveryClientForConfig(rc)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, path string) ([]byte, error) {
		r := c.RESTClient().Get().AbsPath(path).Do(ctx)
		// Raw would return an error with fewer details of the response.
		if err := r.Error(); err != nil {
			if Foreign(err) {
				return nil, &Error{Host: rc.Host}
			}
			return nil, err
		}
		return r.Raw()
	}, nil
}

// Path returns the path of the discovery document of a group version.
func Path(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// Resources returns the resources of a group version from its discovery document, or none if the cluster does not serve
// it. The error is an *Error if another server responds with 404, and an *InconsistentDiscoveryError if the cluster contradicts
// itself.
func Resources(ctx context.Context, get GetFunc, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	data, err := get(ctx, Path(gv))
	if Foreign(err) || Is(err) {
		served, err := serves(ctx, get, gv)
		if err != nil || !served {
			return nil, err
		}
		return nil, &InconsistentDiscoveryError{GroupVersion: gv}
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.APIResourceList{}
	if err := json.Unmarshal(data, list); err != nil || list.Kind != "APIResourceList" || list.GroupVersion != gv.String() {
		return nil, errors.New("the response is not a list of API resources")
	}
	return list.APIResources, nil
}

// Served reports whether a cluster serves a kind, according to its discovery documents. The kind of a subresource alone, such as
// Eviction, has no objects, so it is not served.
func Served(ctx context.Context, get GetFunc, gvk schema.GroupVersionKind) (bool, error) {
	r, err := find(ctx, get, gvk, func(metav1.APIResource) bool { return true })
	return r != nil, err
}

// Listed reports whether a cluster serves lists of a kind, according to its discovery documents. Binding, for example, can only be
// created.
func Listed(ctx context.Context, get GetFunc, gvk schema.GroupVersionKind) (bool, error) {
	r, err := find(ctx, get, gvk, isListed)
	return r != nil, err
}

func isListed(r metav1.APIResource) bool {
	return len(r.Verbs) == 0 || slices.Contains(r.Verbs, "list")
}

// mostVersions is the maximum number of versions of a group that are searched.
const mostVersions = 100

// Elsewhere returns the resource of a kind, including its version, from the first other version of the group in which a cluster serves
// lists of the kind. It returns nil if there is none. While a kind has such a version, its objects exist. If the group has more than 100
// versions, it returns an error: each of them takes a request.
func Elsewhere(ctx context.Context, get GetFunc, gvk schema.GroupVersionKind) (*metav1.APIResource, error) {
	all, err := versions(ctx, get, gvk.Group)
	if err != nil {
		return nil, err
	}
	if len(all) > mostVersions {
		return nil, errors.Errorf("the cluster lists %d versions of API group %q, more than the limit of %d", len(all), gvk.Group, mostVersions)
	}
	for _, version := range all {
		if version == gvk.Version {
			continue
		}
		r, err := find(ctx, get, gvk.GroupKind().WithVersion(version), isListed)
		if err != nil {
			return nil, err
		}
		if r != nil {
			r.Version = version
			return r, nil
		}
	}
	return nil, nil //nolint:nilnil // As documented.
}

// find returns the first resource of a kind that is not a subresource and is acceptable, or nil if there is none. It holds no response
// during the next request.
func find(ctx context.Context, get GetFunc, gvk schema.GroupVersionKind, accept func(metav1.APIResource) bool) (*metav1.APIResource, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	all, err := Resources(ctx, get, gvk.GroupVersion())
	i := slices.IndexFunc(all, func(r metav1.APIResource) bool {
		return r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") && accept(r)
	})
	if i < 0 {
		return nil, err
	}
	r := all[i] // A pointer to the element would keep the others.
	return &r, nil
}

// An InconsistentDiscoveryError reports a group version that the list of API groups contains, but for which the cluster responds with
// 404. This happens for a moment when a CRD is created or deleted.
type InconsistentDiscoveryError struct {
	GroupVersion schema.GroupVersion
}

// Error returns one line that names the group version.
func (e *InconsistentDiscoveryError) Error() string {
	return "the cluster lists API version " + e.GroupVersion.String() + ", but returns 404 Not Found for it"
}

// serves reports whether the API groups of a cluster contain a group version.
func serves(ctx context.Context, get GetFunc, gv schema.GroupVersion) (bool, error) {
	all, err := versions(ctx, get, gv.Group)
	return slices.Contains(all, gv.Version), err
}

// versions returns the versions of an API group, the preferred one first, or none if the cluster does not serve the group. It holds no
// response during the next request.
func versions(ctx context.Context, get GetFunc, group string) ([]string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	path := "/apis"
	if group == "" {
		path = "/api"
	}
	data, err := get(ctx, path)
	if err != nil {
		return nil, Explain(err)
	}
	if group == "" {
		l := &metav1.APIVersions{}
		if err := json.Unmarshal(data, l); err != nil || l.Kind != "APIVersions" || len(l.Versions) == 0 {
			return nil, errors.New("the response is not a list of API versions")
		}
		return l.Versions, nil
	}
	l := &metav1.APIGroupList{}
	if err := json.Unmarshal(data, l); err != nil || l.Kind != "APIGroupList" || len(l.Groups) == 0 {
		return nil, errors.New("the response is not a list of API groups")
	}
	return versionsOf(l, group), nil
}

func versionsOf(l *metav1.APIGroupList, group string) []string {
	var out []string
	for _, g := range l.Groups {
		for _, v := range g.Versions {
			if g.Name == group {
				out = append(out, v.Version)
			}
		}
	}
	return out
}
