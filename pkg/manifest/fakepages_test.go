// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// discover responds with a discovery document. It reports whether the path belongs to one.
func (s *fakeServer) discover(w http.ResponseWriter, r *http.Request) bool {
	p := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	groups, lists := map[string][]metav1.GroupVersionForDiscovery{}, map[string][]metav1.APIResource{}
	for _, k := range s.kinds() {
		gv := k.GroupVersion().String()
		if lists[gv] == nil {
			groups[k.Group] = append(groups[k.Group], metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: k.Version})
		}
		lists[gv] = append(lists[gv], metav1.APIResource{Name: k.Resource, Kind: k.Kind, Namespaced: k.Namespaced})
	}
	var answer any
	switch gv := strings.Join(p[1:], "/"); {
	case r.URL.Path == "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case r.URL.Path == "/apis":
		l := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		delete(groups, "")
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			l.Groups = append(l.Groups, metav1.APIGroup{Name: name, Versions: groups[name]})
		}
		answer = l
	case r.URL.Path == "/api/v1", p[0] == "apis" && len(p) == 3:
		s.log = append(s.log, "discover "+gv)
		if lists[gv] == nil {
			http.NotFound(w, r)
			return true
		}
		answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv, APIResources: lists[gv]}
		reply(w, http.StatusOK, answer)
		return true
	default:
		return false
	}
	s.log = append(s.log, "discover groups")
	reply(w, http.StatusOK, answer)
	return true
}

// A page is a 404 that is not from an API server.
type page struct {
	contentType, body string
}

// pages contains responses of servers between the engine and a cluster.
var pages = map[string]page{
	"HTML":     {contentType: "text/html", body: "<html>canary</html>"},
	"Backend":  {contentType: "text/plain", body: "default backend - 404 canary"},
	"Path":     {contentType: "text/plain; charset=utf-8", body: "404 page not found\n"},
	"JSON":     {contentType: "application/json", body: `{"type":"error","status":"404","code":"NotFound","message":"canary"}`},
	"NoStatus": {contentType: "application/json", body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"canary","code":404}`},
	"Other": {
		contentType: "application/json",
		body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"canary","code":404,` +
			`"details":{"name":"c-1","group":"management.example.org","kind":"clusters"}}`,
	},
	"Empty": {contentType: "text/plain"},
}

// to answers requests with a page.
func (p page) to(which func(r *http.Request) bool) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !which(r) {
			return false
		}
		w.Header().Set("Content-Type", p.contentType)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, p.body)
		return true
	}
}

func all(*http.Request) bool { return true }

// resources selects requests for a resource.
func resources(name string) func(r *http.Request) bool {
	return func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/"+name) }
}
