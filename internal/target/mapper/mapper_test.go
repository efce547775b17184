// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestBuiltin(t *testing.T) {
	notInClientGo := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
	all := Builtin()
	for gvk := range all {
		if !scheme.Scheme.Recognizes(gvk) && !notInClientGo[gvk.Group] {
			t.Errorf("%s is not a kind of Kubernetes", gvk)
		}
	}
	want := map[schema.GroupVersionKind]cluster.Mapping{
		{Version: "v1", Kind: "Endpoints"}:                                     {Resource: "endpoints", Namespaced: true},
		{Version: "v1", Kind: "Namespace"}:                                     {Resource: "namespaces"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass"}:      {Resource: "ingressclasses"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:     {Resource: "networkpolicies", Namespaced: true},
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}:   {Resource: "apiservices"},
		{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity"}:   {Resource: "csistoragecapacities", Namespaced: true},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}: {Resource: "horizontalpodautoscalers", Namespaced: true},
	}
	got := map[schema.GroupVersionKind]cluster.Mapping{}
	for gvk := range want {
		got[gvk] = all[gvk]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Builtin(): -want, +got:\n%s", diff)
	}
}

// A server responds to discovery requests and counts them.
type server struct {
	mu     sync.Mutex
	groups map[string]string
	err    error
	asked  []string
}

func (s *server) get(_ context.Context, path string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, path)
	if s.err != nil {
		return nil, s.err
	}
	body, ok := s.groups[path]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, "")
	}
	return []byte(body), nil
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

const groups = `{"kind": "APIGroupList", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]}]}`

const widgets = `{"kind": "APIResourceList", "groupVersion": "example.org/v1", "resources": [
	{"name": "widgets", "kind": "Widget", "namespaced": true},
	{"name": "widgets/status", "kind": "Widget", "namespaced": true},
	{"name": "planets", "kind": "Planet", "namespaced": false}]}`

func TestMapping(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	planet := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Planet"}
	unknown := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Unknown"}
	elsewhere := schema.GroupVersionKind{Group: "none.example.org", Version: "v1", Kind: "X"}
	binding := schema.GroupVersionKind{Version: "v1", Kind: "Binding"}

	type step struct {
		gvk      schema.GroupVersionKind
		later    time.Duration
		change   func(m *Mapper, s *server)
		want     cluster.Mapping
		noKind   bool
		err      string
		requests []string
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Builtin": {
			reason: "Built-in kinds need no request.",
			steps:  []step{{gvk: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, want: cluster.Mapping{Resource: "secrets", Namespaced: true}}},
		},
		"Core": {
			reason: "The core group has a path of its own.",
			steps:  []step{{gvk: binding, noKind: true, requests: []string{"/api/v1"}}},
		},
		"OneRequestForAVersion": {
			reason: "One request answers for all kinds of a version, and lasts.",
			steps: []step{
				{gvk: widget, want: cluster.Mapping{Resource: "widgets", Namespaced: true}, requests: []string{"/apis/example.org/v1"}},
				{gvk: planet, want: cluster.Mapping{Resource: "planets"}},
				{gvk: widget, later: foundFor - time.Second, want: cluster.Mapping{Resource: "widgets", Namespaced: true}},
				{gvk: widget, later: foundFor, want: cluster.Mapping{Resource: "widgets", Namespaced: true}, requests: []string{"/apis/example.org/v1"}},
			},
		},
		"MissingKind": {
			reason: "A missing kind is looked for again soon, though another one of its version was found.",
			steps: []step{
				{gvk: widget, want: cluster.Mapping{Resource: "widgets", Namespaced: true}, requests: []string{"/apis/example.org/v1"}},
				{gvk: unknown, noKind: true},
				{gvk: unknown, later: missingFor, noKind: true, requests: []string{"/apis/example.org/v1"}},
			},
		},
		"MissingGroup": {
			reason: "A missing group is not a failure, and is remembered for a moment.",
			steps: []step{
				{gvk: elsewhere, noKind: true, requests: []string{"/apis/none.example.org/v1", "/apis"}},
				{gvk: elsewhere, noKind: true},
			},
		},
		"Learned": {
			reason: "What is being installed need not be served yet.",
			steps: []step{
				{gvk: elsewhere, noKind: true, requests: []string{"/apis/none.example.org/v1", "/apis"}},
				{
					gvk: elsewhere, want: cluster.Mapping{Resource: "xs"},
					change: func(m *Mapper, _ *server) { m.AddMapping(elsewhere, cluster.Mapping{Resource: "xs"}) },
				},
			},
		},
		"Failure": {
			reason: "A failure is reported, and not remembered.",
			steps: []step{
				{
					gvk: widget, err: "cannot discover the kinds of example.org/v1: boom", requests: []string{"/apis/example.org/v1"},
					change: func(_ *Mapper, s *server) { s.err = errors.New("boom") },
				},
				{
					gvk: widget, want: cluster.Mapping{Resource: "widgets", Namespaced: true}, requests: []string{"/apis/example.org/v1"},
					change: func(_ *Mapper, s *server) { s.err = nil },
				},
			},
		},
		"Nonsense": {
			reason: "Any server may stand there.",
			steps: []step{{
				gvk: widget, err: "not a list of API resources", requests: []string{"/apis/example.org/v1"},
				change: func(_ *Mapper, s *server) { s.groups["/apis/example.org/v1"] = "<html>" },
			}},
		},
		"OtherJSON": {
			reason: "A document that is not a list of resources says nothing of kinds that do not exist.",
			steps: []step{{
				gvk: widget, err: "not a list of API resources", requests: []string{"/apis/example.org/v1"},
				change: func(_ *Mapper, s *server) { s.groups["/apis/example.org/v1"] = `{"ok":true}` },
			}},
		},
		"NotFoundAtAll": {
			reason: "Where the list of groups is not found either, no API server answers, and no kind is missing.",
			steps: []step{
				{
					gvk: elsewhere, err: "is not from a Kubernetes API server", requests: []string{"/apis/none.example.org/v1", "/apis"},
					change: func(_ *Mapper, s *server) { delete(s.groups, "/apis") },
				},
				{gvk: elsewhere, err: "is not from a Kubernetes API server", requests: []string{"/apis/none.example.org/v1", "/apis"}},
			},
		},
		"Contradiction": {
			reason: "A version that the groups have is not missing, whatever its own path answers.",
			steps: []step{{
				gvk: widget, err: "the cluster lists API version example.org/v1", requests: []string{"/apis/example.org/v1", "/apis"},
				change: func(_ *Mapper, s *server) {
					delete(s.groups, "/apis/example.org/v1")
					s.groups["/apis"] = strings.ReplaceAll(groups, "apps", "example.org")
				},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &server{groups: map[string]string{
				"/apis/example.org/v1": widgets, "/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`, "/apis": groups,
			}}
			now := time.Unix(1000, 0)
			m := New(s.get, Builtin())
			m.now = func() time.Time { return now }
			for i, step := range tc.steps {
				now = now.Add(step.later)
				if step.change != nil {
					step.change(m, s)
				}
				got, err := m.Mapping(t.Context(), step.gvk)
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("%s\nstep %d: -want, +got:\n%s", tc.reason, i, diff)
				}
				if step.noKind != isNoKind(err) {
					t.Errorf("%s\nstep %d: want NoKindError: %t, got %v", tc.reason, i, step.noKind, err)
				}
				if !step.noKind && (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
					t.Errorf("%s\nstep %d: want error %q, got %v", tc.reason, i, step.err, err)
				}
				if diff := cmp.Diff(step.requests, s.requests()); diff != "" {
					t.Errorf("%s\nstep %d: requests: -want, +got:\n%s", tc.reason, i, diff)
				}
			}
		})
	}
}

func TestMappingTogether(t *testing.T) {
	s := &server{groups: map[string]string{"/apis/example.org/v1": widgets}}
	asked, release := make(chan struct{}), make(chan struct{})
	m := New(func(ctx context.Context, path string) ([]byte, error) {
		close(asked) // A second close panics.
		<-release
		return s.get(ctx, path)
	}, Builtin())
	widget := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := m.Mapping(t.Context(), widget); err != nil {
				t.Error(err)
			}
		})
	}
	<-asked
	// Callers that wait for a slow request can give up, and known mappings need no waiting.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Mapping(ctx, widget); !errors.Is(err, context.Canceled) {
		t.Errorf("want the error of the context, got %v", err)
	}
	planet := widget.GroupVersion().WithKind("Planet")
	m.AddMapping(planet, cluster.Mapping{Resource: "planets"})
	if _, err := m.Mapping(t.Context(), planet); err != nil {
		t.Error(err)
	}
	close(release)
	wg.Wait()
	if n := len(s.requests()); n != 1 {
		t.Errorf("want 1 request for 20 callers, got %d", n)
	}
}

func TestTidy(t *testing.T) {
	s := &server{groups: map[string]string{"/apis": groups}}
	now := time.Unix(1000, 0)
	m := New(s.get, nil)
	m.now = func() time.Time { return now }
	for i := range 1000 {
		now = now.Add(time.Second)
		_, err := m.Mapping(t.Context(), schema.GroupVersionKind{Group: "g" + strings.Repeat("x", i), Version: "v1", Kind: "K"})
		if !isNoKind(err) {
			t.Fatal(err)
		}
	}
	if n := len(m.versions); n > 10 {
		t.Errorf("want memory to stay bounded, got %d versions", n)
	}
}

// TestTidyLearned checks that learned mappings are forgotten, regardless of other requests.
func TestTidyLearned(t *testing.T) {
	m := New(func(context.Context, string) ([]byte, error) { return nil, errors.New("no one asked") }, nil)
	now := time.Unix(1000, 0)
	m.now = func() time.Time { return now }
	for i := range 1000 {
		now = now.Add(time.Minute)
		m.AddMapping(schema.GroupVersionKind{Group: "g" + strings.Repeat("x", i), Version: "v1", Kind: "K"}, cluster.Mapping{Resource: "ks"})
	}
	if n := len(m.learned); n > 20 {
		t.Errorf("want memory to stay bounded, got %d lessons", n)
	}
}

// TestTidyAsked checks that the response to a request is kept, even if another request is made before the cluster responds.
func TestTidyAsked(t *testing.T) {
	s := &server{groups: map[string]string{"/apis": groups}}
	m := New(s.get, nil)
	v := m.version(schema.GroupVersion{Group: "a", Version: "v1"})
	v.asking <- struct{}{}
	m.version(schema.GroupVersion{Group: "b", Version: "v1"})
	if got := m.version(schema.GroupVersion{Group: "a", Version: "v1"}); got != v {
		t.Error("a version that is asked for was forgotten")
	}
}

// TestLearnRival checks that a CRD with the kind of another CRD does not misdirect requests.
func TestLearnRival(t *testing.T) {
	m := New(func(context.Context, string) ([]byte, error) { return nil, errors.New("no one asked") }, Table{})
	now := time.Unix(0, 0)
	m.now = func() time.Time { return now }
	gvk := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	first, rival := cluster.Mapping{Resource: "widgets"}, cluster.Mapping{Resource: "wodgets"}
	m.AddMapping(gvk, first)
	m.AddMapping(gvk, rival)
	if got, err := m.Mapping(t.Context(), gvk); err != nil || got != first {
		t.Errorf("Mapping(...): want the first mapping, got %v, %v", got, err)
	}
	now = now.Add(foundFor)
	m.AddMapping(gvk, rival)
	if got, err := m.Mapping(t.Context(), gvk); err != nil || got != rival {
		t.Errorf("Mapping(...): an old mapping must not stay forever, got %v, %v", got, err)
	}
}
