// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

func kindOf(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: name}
}

// A journal records the steps that were set up.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) step(name, after string, err error, kinds ...string) step {
	s := step{name: name, after: after, setup: func() error {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, name)
		return err
	}}
	for _, k := range kinds {
		s.kinds = append(s.kinds, kindOf(k))
	}
	return s
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// mapper knows the served kinds.
type mapper struct {
	meta.RESTMapper

	mu     sync.Mutex
	served map[string]bool
}

func (m *mapper) serve(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served[kind] = true
}

func (m *mapper) RESTMapping(gk schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.served[gk.Kind] {
		return nil, &meta.NoKindMatchError{GroupKind: gk}
	}
	return &meta.RESTMapping{}, nil
}

func TestActivation(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		reason string
		steps  func(j *journal) []step
		// established contains the established kinds in their order. Kinds with a "!" are not served.
		established []string
		want        []string
		err         string
	}{
		"None": {
			reason: "A step waits until all its kinds are served.",
			steps:  func(j *journal) []step { return []step{j.step("a", "", nil, "A", "B")} },
			want:   nil, established: []string{"B"},
		},
		"Some": {
			reason: "A step whose kinds are served does not wait for the other steps.",
			steps: func(j *journal) []step {
				return []step{j.step("a", "", nil, "A"), j.step("b", "", nil, "B", "C")}
			},
			established: []string{"C", "B"}, want: []string{"b"},
		},
		"After": {
			reason: "A step starts after the step whose indexes it uses.",
			steps: func(j *journal) []step {
				return []step{j.step("a", "", nil, "A"), j.step("b", "a", nil, "A"), j.step("c", "b", nil, "A")}
			},
			established: []string{"A"}, want: []string{"a", "b", "c"},
		},
		"NotServed": {
			reason: "An established kind that is not served yet would make the setup fail.",
			steps: func(j *journal) []step {
				return []step{j.step("a", "", nil, "A"), j.step("b", "", nil, "B")}
			},
			established: []string{"!A", "B"}, want: []string{"b"},
		},
		"Error": {
			reason: "The error names the controller.",
			steps: func(j *journal) []step {
				return []step{j.step("a", "", boom, "A"), j.step("b", "a", nil, "A")}
			},
			established: []string{"A"}, want: []string{"a"}, err: "cannot start the controller of a: boom",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, m, g := &journal{}, &mapper{served: map[string]bool{}}, &gate.Gate[schema.GroupVersionKind]{}
				a := newActivation(m, tc.steps(j), logging.NewNopLogger())
				a.register(g)
				for _, k := range tc.established {
					if !strings.HasPrefix(k, "!") {
						m.serve(k)
					}
					g.Set(kindOf(strings.TrimPrefix(k, "!")), true)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := a.Start(ctx)
				if got := message(err); got != tc.err {
					t.Errorf("\n%s\nStart(...): want error %q, got %q", tc.reason, tc.err, got)
				}
				if diff := cmp.Diff(tc.want, j.read()); diff != "" {
					t.Errorf("\n%s\nStart(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func TestActivationLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m, g := &journal{}, &mapper{served: map[string]bool{}}, &gate.Gate[schema.GroupVersionKind]{}
		a := newActivation(m, []step{j.step("a", "", nil, "A"), j.step("b", "", nil, "B")}, logging.NewNopLogger())
		a.register(g)
		g.Set(kindOf("A"), true)
		g.Set(kindOf("B"), true)
		time.AfterFunc(100*time.Millisecond, func() { m.serve("B") })
		time.AfterFunc(700*time.Millisecond, func() { m.serve("A") })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+unserved)
		defer cancel()
		if err := a.Start(ctx); err != nil || ctx.Err() != nil {
			t.Fatalf("what is served a moment later must start then: %v, %v", err, ctx.Err())
		}
		if got := j.read(); len(got) != 2 {
			t.Errorf("Start(...): want both steps, got %v", got)
		}
	})
}

func TestActivationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := step{name: "a", kinds: []schema.GroupVersionKind{kindOf("A")}, setup: func() error {
		cancel()
		return errors.New("stopped")
	}}
	g := &gate.Gate[schema.GroupVersionKind]{}
	a := newActivation(&mapper{served: map[string]bool{"A": true}}, []step{s}, logging.NewNopLogger())
	a.register(g)
	g.Set(kindOf("A"), true)
	if err := a.Start(ctx); err != nil {
		t.Errorf("a manager that stops is not an error: %v", err)
	}
}

func TestAll(t *testing.T) {
	j := &journal{}
	missing := &meta.NoKindMatchError{GroupKind: kindOf("B").GroupKind()}
	cases := map[string]struct {
		reason string
		steps  []step
		err    string
	}{
		"Good":    {reason: "All steps are set up.", steps: []step{j.step("a", "", nil), j.step("b", "a", nil)}},
		"Error":   {reason: "The error names the controller.", steps: []step{j.step("a", "", errors.New("boom"))}, err: "cannot start the controller of a: boom"},
		"Missing": {reason: "The error for a missing kind says what the provider needs.", steps: []step{j.step("a", "", errors.Wrap(missing, "index"), "A", "B")}, err: "needs all of A, B when it starts: index: no matches"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := message(all(tc.steps)); !strings.Contains(got, tc.err) || (got == "") != (tc.err == "") {
				t.Errorf("\n%s\nall(...): want error %q, got %q", tc.reason, tc.err, got)
			}
		})
	}
}

func TestMayWatchCRDs(t *testing.T) {
	cases := map[string]struct {
		reason string
		denied string
		err    error
		want   bool
		fails  bool
	}{
		"Granted":  {reason: "With all permissions, the provider can wait for CRDs.", want: true},
		"NoGet":    {reason: "Each permission is required.", denied: "get"},
		"NoList":   {reason: "Each permission is required.", denied: "list"},
		"NoWatch":  {reason: "Each permission is required.", denied: "watch"},
		"NoAnswer": {reason: "An error of the API server is returned.", err: errors.New("boom"), fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
					r, ok := o.(*authorizationv1.SelfSubjectAccessReview)
					if !ok || r.Spec.ResourceAttributes.Group != "apiextensions.k8s.io" || r.Spec.ResourceAttributes.Resource != "customresourcedefinitions" {
						t.Errorf("\n%s\nunexpected %v", tc.reason, o)
						return tc.err
					}
					r.Status.Allowed = r.Spec.ResourceAttributes.Verb != tc.denied
					return tc.err
				},
			}).Build()
			got, err := mayWatchCRDs(t.Context(), c)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("\n%s\nmayWatchCRDs(...): got %t, %v", tc.reason, got, err)
			}
		})
	}
}

// TestSteps checks that no step uses indexes of a later step, or of a step that might never be set up.
func TestSteps(t *testing.T) {
	earlier := map[string][]schema.GroupVersionKind{}
	for _, s := range (&controllers{}).steps(t.Context()) {
		if s.after != "" {
			kinds, ok := earlier[s.after]
			if !ok {
				t.Errorf("%s are set up after %s, which are not before", s.name, s.after)
			}
			for _, k := range kinds {
				if !slices.Contains(s.kinds, k) {
					t.Errorf("%s would wait for %s, which wait for %s", s.name, s.after, k.Kind)
				}
			}
		}
		earlier[s.name] = s.kinds
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
