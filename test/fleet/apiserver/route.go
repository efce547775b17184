// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
)

// split divides a URL path into the version and the rest, which begins with a resource. It returns false for a path of another form.
func split(path string) (schema.GroupVersion, []string, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		return schema.GroupVersion{Version: parts[1]}, parts[2:], true
	case len(parts) > 3 && parts[0] == "apis":
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:], true
	}
	return schema.GroupVersion{}, nil, false
}

// inNamespace returns the namespace of a path without its version, and the rest. The resource namespaces has subresources itself.
func inNamespace(gv schema.GroupVersion, parts []string) (string, []string) {
	if len(parts) > 2 && parts[0] == "namespaces" && (gv.Group != "" || !slices.Contains([]string{"status", "finalize"}, parts[2])) {
		return parts[1], parts[2:]
	}
	return "", parts
}

// groupOfPath returns the API group of a path without a slash at its beginning.
func groupOfPath(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "api" || len(parts) == 1 {
		return ""
	}
	return parts[1]
}

// isUnimplemented reports whether a path belongs to an API of Kubernetes that is missing here.
func isUnimplemented(path string) bool {
	gv, parts, ok := split(path)
	if !ok {
		parts = strings.Split(strings.Trim(path, "/"), "/")
		if len(parts) == 3 && parts[0] == "apis" {
			return kinds.IsUnimplemented(kinds.Path{GroupVersion: schema.GroupVersion{Group: parts[1], Version: parts[2]}})
		}
		return false
	}
	_, parts = inNamespace(gv, parts)
	return kinds.IsUnimplemented(kinds.Path{GroupVersion: gv, Resource: parts[0]})
}

// parse returns the target of a URL path, or false if the path is not that of a resource that the cluster serves.
func parse(path string, served *kinds.Set) (cluster.Target, bool) {
	gv, parts, ok := split(path)
	if !ok {
		return cluster.Target{}, false
	}
	t := cluster.Target{}
	t.Namespace, parts = inNamespace(gv, parts)
	t.Kind = served.Find(kinds.Path{GroupVersion: gv, Resource: parts[0]})
	if t.Kind == nil || len(parts) > 3 {
		return t, false
	}
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 {
		t.Subresource = parts[2]
	}
	return t, t.Kind.Namespaced == (t.Namespace != "") || t.Kind.Namespaced && t.Name == ""
}

// verbOf returns the verb of a request for a resource.
func verbOf(r *http.Request, t cluster.Target) string {
	collection := t.Name == ""
	switch r.Method {
	case http.MethodGet:
		switch watch := r.URL.Query().Get("watch"); {
		case watch == "true" || watch == "1":
			return "watch"
		case collection:
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		if strings.HasPrefix(r.Header.Get("Content-Type"), applyPatch) {
			return "apply"
		}
		return "patch"
	case http.MethodDelete:
		if collection {
			return "deletecollection"
		}
		return "delete"
	}
	return strings.ToLower(r.Method)
}
