// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// serveDocument serves the version, the health, and discovery documents.
func serveDocument(s *Server, w http.ResponseWriter, r *http.Request, c *cluster.Cluster) {
	path := strings.Trim(r.URL.Path, "/")
	if path == "healthz" || path == "livez" || path == "readyz" {
		_, _ = w.Write([]byte("ok")) // The client may be gone.
		return
	}
	media := wire.JSON
	if strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") && (path == "api" || path == "apis") {
		media = aggregated
	}
	answer := missing
	if r.Method == http.MethodGet {
		answer = documentOf(c.Kinds().All(), path, media == aggregated, s.options.Version)
	}
	if answer == missing {
		refuseDocument(s, w, r, path)
		return
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // The client may be gone.
}

// refuseDocument answers a request for a path that is not served: as a real API server if this has no such path either.
func refuseDocument(s *Server, w http.ResponseWriter, r *http.Request, path string) {
	isAPI := strings.HasPrefix(path, "api/") || strings.HasPrefix(path, "apis/")
	switch {
	case isAPI && !isUnimplemented(path):
		if kinds.IsBuiltinGroup(groupOfPath(path)) {
			writeError(w, &kerrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{},
				Message: "the server could not find the requested resource",
			}})
			return
		}
		http.NotFound(w, r)
	default:
		s.recordUnknown(r.Method + " " + r.URL.Path)
		writeError(w, kerrors.NewGenericServerResponse(http.StatusNotImplemented, r.Method, schema.GroupResource{}, "", errUnknown.Error(), 0, true))
	}
}

// documentOf returns the document at a path, or missing.
func documentOf(all []*kinds.Kind, path string, isAggregated bool, release string) any {
	switch parts := strings.Split(path, "/"); {
	case path == "version":
		numbers := strings.Split(strings.TrimPrefix(release, "v"), ".")
		return version.Info{Major: numbers[0], Minor: numbers[1], GitVersion: release, Platform: "linux/amd64"}
	case (path == "api" || path == "apis") && isAggregated:
		return aggregatedGroups(all, path == "api")
	case path == "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case path == "apis":
		return groupList(all)
	case len(parts) == 2 && parts[0] == "apis":
		return groupOf(all, parts[1])
	case len(parts) == 2 && parts[0] == "api", len(parts) == 3 && parts[0] == "apis":
		gv, _ := schema.ParseGroupVersion(strings.Join(parts[1:], "/")) // It has at most one slash.
		return resourcesOf(all, gv)
	}
	return missing
}

// missing stands for a document that does not exist.
var missing any = "missing"

// verbsOf returns the verbs of a kind, in the order of a real API server.
func verbsOf(k *kinds.Kind) metav1.Verbs {
	if k.GroupResource().String() == "namespaces" {
		return metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}
	}
	if k.Custom != nil {
		return metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	}
	return metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// subresourceVerbs returns the verbs of subresources.
func subresourceVerbs() metav1.Verbs { return metav1.Verbs{"get", "patch", "update"} }

// versions returns the group versions of kinds, sorted, without the core group.
func versions(all []*kinds.Kind) []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, k := range all {
		if k.Group != "" && !slices.Contains(out, k.GroupVersion()) {
			out = append(out, k.GroupVersion())
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func groupList(all []*kinds.Kind) *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, gv := range versions(all) {
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		if n := len(out.Groups); n > 0 && out.Groups[n-1].Name == gv.Group {
			out.Groups[n-1].Versions = append(out.Groups[n-1].Versions, v)
			continue
		}
		out.Groups = append(out.Groups, metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
	}
	return out
}

func groupOf(all []*kinds.Kind, name string) any {
	for _, g := range groupList(all).Groups {
		if g.Name == name {
			g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return g
		}
	}
	return missing
}

// inVersion returns the kinds of a version, sorted by resource.
func inVersion(all []*kinds.Kind, gv schema.GroupVersion) []*kinds.Kind {
	var out []*kinds.Kind
	for _, k := range all {
		if k.GroupVersion() == gv {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *kinds.Kind) int { return strings.Compare(a.Resource, b.Resource) })
	return out
}

func resourcesOf(all []*kinds.Kind, gv schema.GroupVersion) any {
	of := inVersion(all, gv)
	if len(of) == 0 {
		return missing
	}
	out := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv.String()}
	if gv.Group != "" {
		out.APIVersion = "v1"
	}
	for _, k := range of {
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: k.Resource, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: k.GroupVersionKind.Kind, Verbs: verbsOf(k),
			ShortNames: k.ShortNames, Categories: k.Categories,
		})
		if k.HasStatus {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: k.Resource + "/status", Namespaced: k.Namespaced, Kind: k.GroupVersionKind.Kind, Verbs: subresourceVerbs(),
			})
		}
	}
	return out
}

// aggregatedGroups returns the groups with their resources: the core group, or all others.
func aggregatedGroups(all []*kinds.Kind, core bool) *discoveryv2.APIGroupDiscoveryList {
	out := &discoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	of := versions(all)
	if core {
		of = []schema.GroupVersion{{Version: "v1"}}
	}
	for _, gv := range of {
		v := discoveryv2.APIVersionDiscovery{Version: gv.Version, Freshness: discoveryv2.DiscoveryFreshnessCurrent}
		for _, k := range inVersion(all, gv) {
			v.Resources = append(v.Resources, aggregatedResource(k))
		}
		if n := len(out.Items); n > 0 && out.Items[n-1].Name == gv.Group {
			out.Items[n-1].Versions = append(out.Items[n-1].Versions, v)
			continue
		}
		out.Items = append(out.Items, discoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: gv.Group}, Versions: []discoveryv2.APIVersionDiscovery{v},
		})
	}
	return out
}

func aggregatedResource(k *kinds.Kind) discoveryv2.APIResourceDiscovery {
	gvk := metav1.GroupVersionKind(k.GroupVersionKind)
	if k.Custom == nil {
		// API servers leave out the version of their own kinds.
		gvk.Group, gvk.Version = "", ""
	}
	r := discoveryv2.APIResourceDiscovery{
		Resource: k.Resource, SingularResource: k.Singular, ShortNames: k.ShortNames, Categories: k.Categories, Verbs: verbsOf(k),
		ResponseKind: &gvk, Scope: discoveryv2.ScopeCluster,
	}
	if k.Namespaced {
		r.Scope = discoveryv2.ScopeNamespace
	}
	if k.HasStatus {
		r.Subresources = append(r.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: &gvk, Verbs: subresourceVerbs()})
	}
	return r
}
