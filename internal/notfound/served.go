// SPDX-License-Identifier: Apache-2.0

package notfound

import (
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A GetFunc answers a GET request to an absolute path. Its errors are those of k8s.io/apimachinery/pkg/api/errors.
type GetFunc func(ctx context.Context, path string) ([]byte, error)

// Getter returns a GetFunc for a REST config.
func Getter(rc *rest.Config) (GetFunc, error) {
	c, err := discovery.NewDiscoveryClientForConfig(rc)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, path string) ([]byte, error) {
		r := c.RESTClient().Get().AbsPath(path).Do(ctx)
		// Raw would return an error that knows less of the server's answer.
		if err := r.Error(); err != nil {
			if Foreign(err) {
				return nil, &Error{Host: rc.Host}
			}
			return nil, err
		}
		return r.Raw()
	}, nil
}

// Path of the discovery document of a group version.
func Path(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// Resources of a group version that a cluster serves, as its discovery documents say; none where it does not serve the
// group version. Where what answers is not an API server, or contradicts itself, the error is an *Error.
func Resources(ctx context.Context, get GetFunc, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	data, err := get(ctx, Path(gv))
	if Foreign(err) || Is(err) {
		served, err := serves(ctx, get, gv)
		if err != nil || !served {
			return nil, err
		}
		return nil, &UnsettledError{GroupVersion: gv}
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.APIResourceList{}
	if err := json.Unmarshal(data, list); err != nil || list.Kind != "APIResourceList" || list.GroupVersion != gv.String() {
		return nil, errors.New("the answer is not a list of API resources")
	}
	return list.APIResources, nil
}

// Served says whether a cluster serves a kind, as its discovery documents say.
func Served(ctx context.Context, get GetFunc, gvk schema.GroupVersionKind) (bool, error) {
	all, err := Resources(ctx, get, gvk.GroupVersion())
	return slices.ContainsFunc(all, func(r metav1.APIResource) bool { return r.Kind == gvk.Kind }), err
}

// An UnsettledError says that the API groups of a cluster have a version that the cluster does not answer for, as in the
// moment in which a CRD comes or goes.
type UnsettledError struct {
	GroupVersion schema.GroupVersion
}

// Error is one line.
func (e *UnsettledError) Error() string {
	return "the cluster names " + e.GroupVersion.String() + " among its API versions, and answers 404 Not Found for it"
}

// serves says whether a group version is among those that a cluster names.
func serves(ctx context.Context, get GetFunc, gv schema.GroupVersion) (bool, error) {
	path := "/apis"
	if gv.Group == "" {
		path = "/api"
	}
	data, err := get(ctx, path)
	if err != nil {
		return false, Explain(err)
	}
	if gv.Group == "" {
		l := &metav1.APIVersions{}
		if err := json.Unmarshal(data, l); err != nil || l.Kind != "APIVersions" || len(l.Versions) == 0 {
			return false, errors.New("the answer is not a list of API versions")
		}
		return slices.Contains(l.Versions, gv.Version), nil
	}
	l := &metav1.APIGroupList{}
	if err := json.Unmarshal(data, l); err != nil || l.Kind != "APIGroupList" || len(l.Groups) == 0 {
		return false, errors.New("the answer is not a list of API groups")
	}
	return slices.ContainsFunc(l.Groups, func(g metav1.APIGroup) bool {
		return g.Name == gv.Group && slices.ContainsFunc(g.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == gv.Version })
	}), nil
}
