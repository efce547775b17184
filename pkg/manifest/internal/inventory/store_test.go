// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// fakeTarget is a cluster with one Secret; nil for none. A fakeCache watches it.
type fakeTarget struct {
	live *unstructured.Unstructured
	// hidden is true where the watch does not show the Secret, and blind where Secrets cannot be watched.
	hidden, blind bool
	requests      []string
}

func (f *fakeTarget) Get(context.Context, schema.GroupVersionKind, cluster.ObjectRef) (*unstructured.Unstructured, error) {
	f.requests = append(f.requests, "get")
	return f.live, nil
}

func (f *fakeTarget) Apply(_ context.Context, o *object.Desired, how ssa.Mode) (cluster.ObjectState, *metav1.FieldsV1, error) {
	f.requests = append(f.requests, map[ssa.Mode]string{ssa.Create: "create", ssa.Force: "apply"}[how])
	if how == ssa.Create && f.live != nil {
		return cluster.ObjectState{}, nil, kerrors.NewConflict(schema.GroupResource{Resource: "secrets"}, o.Ref.Name, errors.New("exists"))
	}
	f.live = &unstructured.Unstructured{Object: o.Content()}
	f.live.SetResourceVersion("new")
	return cluster.ObjectState{ResourceVersion: "new"}, nil, nil
}

func (f *fakeTarget) Delete(context.Context, schema.GroupVersionKind, cluster.ObjectRef, string) (*metav1.PartialObjectMetadata, error) {
	f.requests = append(f.requests, "delete")
	f.live = nil
	return nil, nil //nolint:nilnil // It is gone.
}

type fakeCache struct {
	cluster.Cache

	target *fakeTarget
}

func (c fakeCache) Track(context.Context, []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	if c.target.blind {
		return map[schema.GroupVersionKind]error{{Version: "v1", Kind: "Secret"}: errors.New("forbidden")}
	}
	return nil
}

func (c fakeCache) Get(cluster.ObjectRef) (cluster.ObjectState, bool) {
	if c.target.live == nil || c.target.hidden {
		return cluster.ObjectState{}, false
	}
	return cluster.ObjectState{ResourceVersion: c.target.live.GetResourceVersion()}, true
}

func (fakeCache) Interpreter() cluster.Interpreter           { return nil }
func (fakeCache) Put(cluster.ObjectRef, cluster.ObjectState) {}
func (fakeCache) Forget(cluster.ObjectRef)                   {}

var parentRef = cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "web"}

// parentOf returns the Secret of an inventory, at version 1.
func parentOf(t *testing.T, set, owner string) *unstructured.Unstructured {
	t.Helper()
	data, err := (&Inventory{}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	o, err := Parent{Ref: parentRef, Set: set, Owner: owner}.desired(&Inventory{Good: []byte("good")}, data)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: o.Content()}
	u.SetResourceVersion("1")
	return u
}

func TestLoad(t *testing.T) {
	cached := Stored{Inventory: &Inventory{}, Version: "1", Owner: "a", Size: 7}
	other := "Secret kyma-system/web is the inventory of b; choose another name, or set adopt to take over all that it lists"
	type want struct {
		owner, version string
		exists         bool
		requests       []string
		err            string
	}
	cases := map[string]struct {
		reason    string
		live      *unstructured.Unstructured
		last      Stored
		hidden    bool
		blind     bool
		unwatched bool
		adopt     bool
		want      want
	}{
		"None":          {reason: "The watch is believed.", last: cached},
		"NoneUnwatched": {reason: "What is about to be removed is asked for.", last: cached, unwatched: true, want: want{requests: []string{"get"}}},
		"Unchanged":     {reason: "An inventory that is known is not read again.", live: parentOf(t, "x", "a"), last: cached, want: want{owner: "a", version: "1", exists: true}},
		"Read":          {reason: "It is read once.", live: parentOf(t, "x", "a"), want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Blind":         {reason: "Where Secrets cannot be watched it is asked for each time.", live: parentOf(t, "x", "a"), last: cached, blind: true, want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Hidden":        {reason: "A watch does not show a parent without label.", live: parentOf(t, "x", "a"), hidden: true},
		"HiddenFound":   {reason: "A request does.", live: parentOf(t, "x", "a"), hidden: true, unwatched: true, want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Other":         {reason: "The inventory of another owner is refused.", live: parentOf(t, "x", "b"), want: want{owner: "b", version: "1", exists: true, requests: []string{"get"}, err: other}},
		"Adopt":         {reason: "It can be taken over.", live: parentOf(t, "x", "b"), adopt: true, want: want{owner: "b", version: "1", exists: true, requests: []string{"get"}}},
		"Foreign": {
			reason: "A Secret that is not an inventory is left unchanged.", live: parentOf(t, "y", "a"),
			want: want{requests: []string{"get"}, err: `Secret kyma-system/web is no inventory of this set: its label applyset.kubernetes.io/id is "y"; remove it, or choose another name`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &fakeTarget{live: tc.live, hidden: tc.hidden, blind: tc.blind}
			s := Store{Client: f, Cache: fakeCache{target: f}, Ref: parentRef, Set: "x", Owner: "a", Adopt: tc.adopt, Messages: advice.Messages{Rename: "choose another name", Adopt: "set adopt"}}
			load := s.Load
			if tc.unwatched {
				load = s.LoadUnwatched
			}
			out, err := load(t.Context(), tc.last)
			got := want{owner: out.Owner, version: out.Version, exists: out.Inventory != nil, requests: f.requests}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nLoad(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCreateAndSave(t *testing.T) {
	f := &fakeTarget{}
	s := Store{Client: f, Cache: fakeCache{target: f}, Ref: parentRef, Set: "x", Owner: "a"}
	inv := &Inventory{Good: make([]byte, MaxData)}
	st, err := s.Create(t.Context(), Stored{}, inv)
	if err != nil || st.Version != "new" || st.Owner != "a" || st.Inventory == inv {
		t.Fatalf("Create(...): %+v, %v", st, err)
	}
	if st.Inventory.Good != nil || len(inv.Good) != MaxData {
		t.Error("what does not fit must not be stored, and stays with the caller")
	}
	if _, err := s.Create(t.Context(), Stored{}, inv); !errors.Is(err, ErrExists) {
		t.Errorf("Create(...) where it exists: %v", err)
	}
	// A bundle without owner leaves the one of the inventory.
	s.Owner = ""
	if st, err = s.Save(t.Context(), st, inv); err != nil || st.Owner != "a" || f.live.GetAnnotations()[object.AnnotationOwner] != "a" {
		t.Errorf("Save(...): %+v, %v", st, err)
	}
	if err := s.Delete(t.Context()); err != nil || f.live != nil {
		t.Errorf("Delete(...): %v", err)
	}
	if diff := cmp.Diff([]string{"create", "create", "get", "apply", "delete"}, f.requests); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
