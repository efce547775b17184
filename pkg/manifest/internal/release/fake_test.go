// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A fakeCluster stores Secrets and ConfigMaps by path, in existing namespaces. It logs the requests.
type fakeCluster struct {
	cluster.Cluster

	t          *testing.T
	client     rest.Interface
	objects    map[string]*corev1.Secret
	namespaces map[string]bool
	requests   []string
	// deleteOn deletes an object before a request is served. changeOn lets another client change an object.
	deleteOn, changeOn map[string]string
	// gateway is a request that a gateway answers, which does not know an object of its own.
	gateway string
	// version is the last resource version.
	version int
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	c := &fakeCluster{t: t, objects: map[string]*corev1.Secret{}, namespaces: map[string]bool{"apps": true}, deleteOn: map[string]string{}}
	config := &rest.Config{Host: "http://fake", QPS: -1, ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
	}}
	client, err := rest.RESTClientForConfigAndClient(config, &http.Client{Transport: c})
	if err != nil {
		t.Fatal(err)
	}
	c.client = client
	return c
}

func (c *fakeCluster) history() History {
	return History{Client: ssa.New(c, "engine"), Set: "us", Keep: 2}
}

func (c *fakeCluster) REST() rest.Interface { return c.client }

func (c *fakeCluster) Cache() cluster.Cache { return noCache{} }

// noCache is an empty cache.
type noCache struct{ cluster.Cache }

func (noCache) Interpreter() cluster.Interpreter {
	return health.Interpreter{Identity: object.DefaultIdentity()}
}
func (noCache) Put(cluster.ObjectRef, cluster.ObjectState) {}
func (noCache) Forget(cluster.ObjectRef)                   {}

func (c *fakeCluster) Config() *rest.Config { return &rest.Config{Host: "http://fake"} }

func (c *fakeCluster) Mapping(_ context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	return cluster.Mapping{Resource: strings.ToLower(gvk.Kind) + "s", Namespaced: true}, nil
}

// put stores an object.
func (c *fakeCluster) put(resource string, s *corev1.Secret) {
	c.version++
	s.ResourceVersion, s.TypeMeta = strconv.Itoa(c.version), metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	c.objects[path.Join(s.Namespace, resource, s.Name)] = s
}

// record stores a record of a revision of apps/web.
func (c *fakeCluster) record(o record.Options) {
	c.t.Helper()
	s, err := rendered(c.t).Draft.Encode(o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.put("secrets", s)
}

// statuses returns the recorded revisions of apps/web, with their statuses and descriptions.
func (c *fakeCluster) statuses() []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(c.objects)) {
		s := c.objects[k]
		if !strings.HasPrefix(s.Name, RecordPrefix) {
			continue
		}
		info, err := record.Decode(s.Data["release"])
		if err != nil {
			c.t.Fatal(err)
		}
		out = append(out, s.Labels[LabelRevision]+" "+s.Labels[LabelStatus]+": "+info.Description)
	}
	return out
}

func (c *fakeCluster) RoundTrip(r *http.Request) (*http.Response, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "namespaces/")
	request := r.Method + " " + name
	if s := r.URL.Query().Get("labelSelector"); s != "" {
		request += "?" + s
	}
	c.requests = append(c.requests, request)
	delete(c.objects, c.deleteOn[request])
	if s := c.objects[c.changeOn[request]]; s != nil {
		s.ResourceVersion += "0"
	}
	var answer any
	var err error
	if request == c.gateway {
		err = kerrors.NewNotFound(schema.GroupResource{Group: "management.example.org", Resource: "clusters"}, "c-1")
	} else {
		answer, err = c.serve(r, name)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if status := kerrors.APIStatus(nil); errors.As(err, &status) {
		s := status.Status()
		s.APIVersion, s.Kind = "v1", "Status"
		w.WriteHeader(int(s.Code))
		answer = s
	}
	err = json.NewEncoder(w).Encode(answer)
	return w.Result(), err
}

func (c *fakeCluster) serve(r *http.Request, name string) (any, error) {
	namespace, rest, _ := strings.Cut(name, "/")
	resource, object, named := strings.Cut(rest, "/")
	body := &corev1.Secret{}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(body); err != nil {
			return nil, kerrors.NewBadRequest(err.Error())
		}
	}
	gr := schema.GroupResource{Resource: resource}
	_, exists := c.objects[name]
	switch {
	case name == "namespaces":
		c.namespaces[body.Name] = true
	case !c.namespaces[namespace]:
		return nil, kerrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namespace)
	case r.Method == http.MethodPost && c.objects[path.Join(name, body.Name)] != nil:
		return nil, kerrors.NewAlreadyExists(gr, body.Name)
	case r.Method == http.MethodPost:
		c.put(resource, body)
	case !named:
		return c.collection(r, name)
	case !exists:
		return nil, kerrors.NewNotFound(gr, object)
	case r.Method == http.MethodPut && body.ResourceVersion != "" && body.ResourceVersion != c.objects[name].ResourceVersion:
		return nil, kerrors.NewConflict(gr, object, errors.New("the object has been modified"))
	case r.Method == http.MethodPut:
		c.put(resource, body)
	case r.Method == http.MethodDelete:
		delete(c.objects, name)
		return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, nil
	default:
		return c.objects[name], nil
	}
	return body, nil
}

// collection lists or deletes the objects that match a label selector.
func (c *fakeCluster) collection(r *http.Request, name string) (any, error) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, kerrors.NewBadRequest(err.Error())
	}
	l := &corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
	for _, k := range slices.Sorted(maps.Keys(c.objects)) {
		if s := c.objects[k]; path.Dir(k) == name && selector.Matches(labels.Set(s.Labels)) {
			l.Items = append(l.Items, *s)
		}
	}
	if r.Method == http.MethodDelete {
		for i := range l.Items {
			delete(c.objects, path.Join(name, l.Items[i].Name))
		}
	}
	return l, nil
}

// rendered returns a rendered chart of one ConfigMap, as release apps/web.
func rendered(t *testing.T) *render.Rendered {
	t.Helper()
	r, err := chartOf(t).Render(t.Context(), render.Options{ReleaseName: "web", Namespace: "apps"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func chartOf(t *testing.T) *render.Chart {
	t.Helper()
	c, err := render.Load([]input.File{
		{Name: "Chart.yaml", Data: []byte("{apiVersion: v2, name: app, version: 1.2.3}")},
		{Name: "templates/a.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
