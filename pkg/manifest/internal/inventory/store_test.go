// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A fakeTarget is a cluster with at most one Secret, which a fakeCache watches.
type fakeTarget struct {
	live *unstructured.Unstructured
	// hidden is true if the watch does not show the Secret. blind is true if Secrets cannot be watched.
	hidden, blind bool
	requests      []string
	// put is true once the Secret was put into the cache.
	put bool
}

func (f *fakeTarget) Get(context.Context, schema.GroupVersionKind, cluster.ObjectRef) (*unstructured.Unstructured, error) {
	f.requests = append(f.requests, "get")
	return f.live, nil
}

func (f *fakeTarget) ListJSON(context.Context, schema.GroupVersionKind, cluster.Mapping, string, map[string]string, any) error {
	return errors.New("not a load of several inventories")
}

func (f *fakeTarget) Apply(_ context.Context, o *object.Desired, how ssa.Mode) (cluster.ObjectState, *metav1.FieldsV1, error) {
	if how != ssa.Create {
		return cluster.ObjectState{}, nil, errors.New("not a create")
	}
	f.requests = append(f.requests, "create")
	if f.live != nil {
		return cluster.ObjectState{}, nil, conflict("exists")
	}
	return f.store(o), nil, nil
}

func (f *fakeTarget) ApplyAt(_ context.Context, o *object.Desired, uid, version string) (cluster.ObjectState, error) {
	f.requests = append(f.requests, "apply "+uid+" at "+version)
	if !f.is(uid, version) {
		return cluster.ObjectState{}, conflict("changed")
	}
	return f.store(o), nil
}

func (f *fakeTarget) DeleteAt(
	_ context.Context, _ schema.GroupVersionKind, _ cluster.ObjectRef, uid, version string,
) (*metav1.PartialObjectMetadata, error) {
	f.requests = append(f.requests, "delete "+uid+" at "+version)
	if f.live != nil && !f.is(uid, version) {
		return nil, conflict("changed")
	}
	f.live = nil
	return nil, nil //nolint:nilnil // It is gone.
}

func (f *fakeTarget) is(uid, version string) bool {
	return f.live != nil && string(f.live.GetUID()) == uid && f.live.GetResourceVersion() == version
}

// store stores an applied object. A new Secret has UID a and version 1.
func (f *fakeTarget) store(o *object.Desired) cluster.ObjectState {
	uid, version := types.UID("a"), 0
	if f.live != nil {
		uid = f.live.GetUID()
		version, _ = strconv.Atoi(f.live.GetResourceVersion())
	}
	f.live = &unstructured.Unstructured{Object: o.Content()}
	f.live.SetUID(uid)
	f.live.SetResourceVersion(strconv.Itoa(version + 1))
	return cluster.ObjectState{UID: string(uid), ResourceVersion: f.live.GetResourceVersion()}
}

func conflict(why string) error {
	return kerrors.NewConflict(schema.GroupResource{Resource: "secrets"}, parentRef.Name, errors.New(why))
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

func (fakeCache) Interpreter() cluster.Interpreter              { return nil }
func (fakeCache) Kinds(string) map[schema.GroupVersionKind]bool { return nil }
func (c fakeCache) Put(cluster.ObjectRef, cluster.ObjectState)  { c.target.put = true }
func (fakeCache) Forget(cluster.ObjectRef)                      {}

var parentRef = cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "web"}

// parentOf returns the Secret of an inventory, at version 1.
func parentOf(t *testing.T, set, owner string) *unstructured.Unstructured {
	t.Helper()
	data, err := (&Inventory{}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	o, err := Parent{Ref: parentRef, Set: set, Owner: owner}.desired(&Inventory{Checkpoint: []byte("good")}, data)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: o.Content()}
	u.SetResourceVersion("1")
	return u
}

func TestLoad(t *testing.T) {
	cached := Stored{Inventory: &Inventory{}, Version: "1", Owner: "a", Size: 7}
	other := "Secret kyma-system/web is the inventory of b, not of a; choose another name, or set adopt to adopt all objects in it"
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
		"None":          {reason: "Load trusts the watch.", last: cached},
		"NoneUnwatched": {reason: "LoadUnwatched sends a request if the watch does not show the inventory.", last: cached, unwatched: true, want: want{requests: []string{"get"}}},
		"Unchanged":     {reason: "A known inventory is not read again.", live: parentOf(t, "x", "a"), last: cached, want: want{owner: "a", version: "1", exists: true}},
		"Read":          {reason: "The inventory is read once.", live: parentOf(t, "x", "a"), want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Blind":         {reason: "If Secrets cannot be watched, every Load sends a request.", live: parentOf(t, "x", "a"), last: cached, blind: true, want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Hidden":        {reason: "A watch does not show a parent without the label.", live: parentOf(t, "x", "a"), hidden: true},
		"HiddenFound":   {reason: "A request finds a parent without the label.", live: parentOf(t, "x", "a"), hidden: true, unwatched: true, want: want{owner: "a", version: "1", exists: true, requests: []string{"get"}}},
		"Other":         {reason: "The inventory of another owner is refused.", live: parentOf(t, "x", "b"), want: want{owner: "b", version: "1", exists: true, requests: []string{"get"}, err: other}},
		"Adopt":         {reason: "With adopt, the inventory of another owner is accepted.", live: parentOf(t, "x", "b"), adopt: true, want: want{owner: "b", version: "1", exists: true, requests: []string{"get"}}},
		"Foreign": {
			reason: "A Secret that is not an inventory is left unchanged.", live: parentOf(t, "y", "a"),
			want: want{requests: []string{"get"}, err: `Secret kyma-system/web is not the inventory of this module: label applyset.kubernetes.io/id is "y"; remove the Secret, or choose another name`},
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

// TestLoadIntoCache verifies that Load puts a parent into the cache only if the watch shows it, because only then the watch shows
// its deletion.
func TestLoadIntoCache(t *testing.T) {
	for _, labelled := range []bool{true, false} {
		f := &fakeTarget{live: parentOf(t, "x", "a"), hidden: true}
		if labelled {
			object.AddLabels(f.live, map[string]string{object.LabelManagedBy: object.DefaultManagedBy})
		}
		s := Store{Client: f, Cache: fakeCache{target: f}, Ref: parentRef, Set: "x", Identity: object.DefaultIdentity()}
		if _, err := s.LoadUnwatched(t.Context(), Stored{}); err != nil {
			t.Fatal(err)
		}
		if f.put != labelled {
			t.Errorf("with label %t: the cache was told: %t", labelled, f.put)
		}
	}
}

func TestCreateAndSave(t *testing.T) {
	f := &fakeTarget{}
	s := Store{Client: f, Cache: fakeCache{target: f}, Ref: parentRef, Set: "x", Owner: "a"}
	inv := &Inventory{Checkpoint: make([]byte, MaxData)}
	st, err := s.Create(t.Context(), Stored{}, inv)
	if err != nil || st.UID != "a" || st.Version != "1" || st.Owner != "a" || st.Inventory == inv {
		t.Fatalf("Create(...): %+v, %v", st, err)
	}
	if st.Inventory.Checkpoint != nil || len(inv.Checkpoint) != MaxData {
		t.Error("what does not fit must not be stored, and stays with the caller")
	}
	if out, err := s.Create(t.Context(), Stored{}, inv); !errors.Is(err, ErrExists) || out.Size != 0 {
		t.Errorf("Create(...) where it exists stores nothing: %d bytes, %v", out.Size, err)
	}
	many := &Inventory{Objects: make([]Entry, MaxData/entryReserve)}
	if out, err := s.Save(t.Context(), st, many); err == nil || out.Size != st.Size {
		t.Errorf("Save(...) of what does not fit leaves what is stored, of %d bytes: %d bytes, %v", st.Size, out.Size, err)
	}
	if _, err := s.Create(t.Context(), Stored{}, inv); !errors.Is(err, ErrExists) {
		t.Errorf("Create(...) where it exists: %v", err)
	}
	// A bundle without an owner leaves the owner of the inventory unchanged.
	s.Owner = ""
	if st, err = s.Save(t.Context(), st, inv); err != nil || st.Owner != "a" || f.live.GetAnnotations()[object.AnnotationOwner] != "a" {
		t.Errorf("Save(...): %+v, %v", st, err)
	}
	if st, err = s.Delete(t.Context(), st); err != nil || f.live != nil || st.Inventory != nil {
		t.Errorf("Delete(...): %+v, %v", st, err)
	}
	if diff := cmp.Diff([]string{"create", "create", "get", "create", "get", "apply a at 1", "delete a at 2"}, f.requests); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}

// TestStoreFence verifies that a Store without the latest version neither overwrites nor deletes an inventory, and does not
// recreate one that was deleted.
func TestStoreFence(t *testing.T) {
	inv := &Inventory{}
	cases := map[string]struct {
		reason string
		// meanwhile is what another client does.
		meanwhile func(t *testing.T, s *Store, f *fakeTarget, st Stored)
		write     func(s *Store, st Stored) (Stored, error)
		want      string
	}{
		"Saved": {
			reason: "The entries that the other client saved would be lost.",
			meanwhile: func(t *testing.T, s *Store, _ *fakeTarget, st Stored) {
				t.Helper()
				if _, err := s.Save(t.Context(), st, inv); err != nil {
					t.Fatal(err)
				}
			},
			write: func(s *Store, st Stored) (Stored, error) { return s.Save(t.Context(), st, inv) },
			want:  "a 2",
		},
		"SavedAndDeleted": {
			reason: "The objects in the entries that the other client saved would be lost.",
			meanwhile: func(t *testing.T, s *Store, _ *fakeTarget, st Stored) {
				t.Helper()
				if _, err := s.Save(t.Context(), st, inv); err != nil {
					t.Fatal(err)
				}
			},
			write: func(s *Store, st Stored) (Stored, error) { return s.Delete(t.Context(), st) },
			want:  "a 2",
		},
		"Removed": {
			reason:    "A removed bundle is not restored.",
			meanwhile: func(_ *testing.T, _ *Store, f *fakeTarget, _ Stored) { f.live = nil },
			write:     func(s *Store, st Stored) (Stored, error) { return s.Save(t.Context(), st, inv) },
			want:      "none",
		},
		"Replaced": {
			reason:    "A bundle that was removed and installed again has a different inventory.",
			meanwhile: func(_ *testing.T, _ *Store, f *fakeTarget, _ Stored) { f.live.SetUID("b") },
			write:     func(s *Store, st Stored) (Stored, error) { return s.Delete(t.Context(), st) },
			want:      "b 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &fakeTarget{}
			s := &Store{Client: f, Cache: fakeCache{target: f}, Ref: parentRef, Set: "x"}
			st, err := s.Create(t.Context(), Stored{}, inv)
			if err != nil {
				t.Fatal(err)
			}
			tc.meanwhile(t, s, f, st)
			out, err := tc.write(s, st)
			changed := (*ChangedError)(nil)
			if !errors.As(err, &changed) || changed.Inventory != parentRef || kerrors.IsConflict(err) {
				t.Errorf("\n%s\nwant a ChangedError, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(Stored{}, out); diff != "" {
				t.Errorf("\n%s\nwhat is known: -want, +got:\n%s", tc.reason, diff)
			}
			got := "none"
			if f.live != nil {
				got = string(f.live.GetUID()) + " " + f.live.GetResourceVersion()
			}
			if got != tc.want {
				t.Errorf("\n%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
