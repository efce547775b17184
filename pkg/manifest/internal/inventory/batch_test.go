// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A fakeFew is a cluster with the inventories of some bundles. It is also the cache that watches them.
type fakeFew struct {
	fakeTarget
	cluster.Cache

	t       *testing.T
	parents map[string]*unstructured.Unstructured
	// err is the error of lists. listed limits the names in lists, if it is not nil.
	err    error
	listed []string
	// selector and limit are those of the last list.
	selector, limit string
}

func newFew(t *testing.T) *fakeFew {
	t.Helper()
	f := &fakeFew{t: t, parents: map[string]*unstructured.Unstructured{}}
	for _, name := range []string{"a", "b", "c"} {
		u := parentOf(t, name, "")
		u.SetName(name)
		f.parents[name] = u
	}
	return f
}

func (f *fakeFew) Get(_ context.Context, _ schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error) {
	f.requests = append(f.requests, "get "+r.Name)
	return f.parents[r.Name], nil
}

func (f *fakeFew) ListJSON(
	_ context.Context, _ schema.GroupVersionKind, m cluster.Mapping, namespace string, params map[string]string, list any,
) error {
	f.requests = append(f.requests, "list "+namespace+"/"+m.Resource)
	f.selector, f.limit = params["labelSelector"], params["limit"]
	if f.err != nil {
		return f.err
	}
	out := map[string]any{"apiVersion": "v1", "kind": "SecretList"}
	items := []any{}
	names := f.listed
	if names == nil {
		names = []string{"a", "b", "c"}
	}
	for _, name := range names {
		item := f.parents[name].DeepCopy().Object
		delete(item, "apiVersion")
		delete(item, "kind")
		items = append(items, item)
	}
	out["items"] = items
	data, err := json.Marshal(out)
	if err != nil {
		f.t.Fatal(err)
	}
	return json.Unmarshal(data, list)
}

// watch is the cache of the cluster in one connection.
type watch struct {
	fakeCache

	few *fakeFew
	// listing is true while the Secrets are being listed.
	listing bool
}

func (w *watch) Track(context.Context, []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	if w.listing {
		return map[schema.GroupVersionKind]error{ssa.SecretKind: &cluster.ListingError{Kinds: []string{"Secret"}}}
	}
	return nil
}

func (w *watch) Get(r cluster.ObjectRef) (cluster.ObjectState, bool) {
	u := w.few.parents[r.Name]
	return cluster.ObjectState{ResourceVersion: u.GetResourceVersion()}, true
}

// TestBatches checks which requests read the inventories of three bundles.
func TestBatches(t *testing.T) {
	const list = "list kyma-system/secrets"
	cases := map[string]struct {
		reason string
		listed []string
		err    error
		// listing is true if the watch has not listed the Secrets yet.
		listing bool
		// large is true if the inventories exceed the maximum size of a batch.
		large bool
		// first happens after the first inventory was read.
		first func(f *fakeFew, s *Store)
		want  []string
	}{
		"Together": {reason: "One request reads all of them.", want: []string{list}},
		"Changed": {
			reason: "An inventory that has changed since then is read again.", want: []string{list, "get b"},
			first: func(f *fakeFew, _ *Store) { f.parents["b"].SetResourceVersion("2") },
		},
		"Many":   {reason: "An inventory that is not on the first page is read by itself.", listed: []string{"a", "c"}, want: []string{list, "get b"}},
		"Large":  {reason: "Others are read one by one, and the request is not repeated, if all together are too large to be kept.", large: true, want: []string{list, "get b", "get c"}},
		"Failed": {reason: "The request is not repeated if it fails.", err: errors.New("too large"), want: []string{list, "get a", "get b", "get c"}},
		"Later":  {reason: "After some minutes, the inventories are read again.", first: func(*fakeFew, *Store) { time.Sleep(batchAge + time.Second) }, want: []string{list, list}},
		"Waiting": {
			reason: "After a restart with many clusters, there can be minutes between the bundles of a cluster.", want: []string{list},
			first: func(*fakeFew, *Store) { time.Sleep(4 * time.Minute) },
		},
		"Connection": {
			reason: "Another connection can have credentials that may not read what this one has read.", want: []string{list, list},
			first: func(f *fakeFew, s *Store) { s.Cache = &watch{few: f, fakeCache: fakeCache{target: &f.fakeTarget}} },
		},
		"Listing": {reason: "The same request reads them while the Secrets are being listed.", listing: true, want: []string{list}},
		"ListingLong": {
			reason: "What was read some seconds ago is not current if no watch confirms it.", listing: true, want: []string{list, "get b", "get c"},
			first: func(*fakeFew, *Store) { time.Sleep(batchFresh + time.Second) },
		},
		"Namespace": {
			reason: "A different engine can have its inventories in another namespace.", want: []string{list, "get b", "get c"},
			first: func(_ *fakeFew, s *Store) { s.Ref.Namespace = "other" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFew(t)
				f.err, f.listed = tc.err, tc.listed
				s := Store{
					Client: f, Cache: &watch{few: f, fakeCache: fakeCache{target: &f.fakeTarget}, listing: tc.listing}, Batches: NewBatches(), Ref: parentRef,
					Identity: object.DefaultIdentity(),
				}
				if tc.large {
					s.Batches.most = 1
				}
				for _, name := range []string{"a", "b", "c"} {
					s.Ref.Name, s.Set = name, name
					out, err := s.Load(t.Context(), Stored{})
					if err != nil || out.Inventory == nil || out.Version != f.parents[name].GetResourceVersion() {
						t.Errorf("\n%s\nLoad(%s): got %v, %v", tc.reason, name, out, err)
					}
					if name == "a" && tc.first != nil {
						tc.first(f, &s)
					}
				}
				if diff := cmp.Diff(tc.want, f.requests); diff != "" {
					t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
				}
				want := []string{"applyset.kubernetes.io/id,operator.kyma-project.io/managed-by=provider-kyma", "25"}
				if diff := cmp.Diff(want, []string{f.selector, f.limit}); diff != "" {
					t.Errorf("\n%s\nselector and limit: -want, +got:\n%s", tc.reason, diff)
				}
				time.Sleep(2 * batchAge)
				if n := s.Batches.by.Size(); n != 0 {
					t.Errorf("\n%s\nwant nothing left after a while, got %d bytes", tc.reason, n)
				}
			})
		})
	}
}

// TestBatchesAge checks that a batch is kept for its time, also if the connection had another one before, which was displaced.
func TestBatchesAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := NewBatches(), &watch{few: newFew(t)}
		b.of(c)
		time.Sleep(batchAge - time.Minute)
		b.by.Remove(c)
		second := b.of(c)
		time.Sleep(2 * time.Minute)
		if b.of(c) != second {
			t.Error("the second batch was removed with the first one")
		}
		time.Sleep(batchAge)
		if got := b.by.Size(); got != 0 {
			t.Errorf("batches of %d bytes are left", got)
		}
		displaced := weak.Make(b.of(c))
		b.by.Remove(c)
		runtime.GC()
		if displaced.Value() != nil {
			t.Error("a batch that was displaced stays in memory")
		}
	})
}

// TestBatchesTaken checks that inventories that were taken leave room for those of other connections.
func TestBatchesTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFew(t)
		batches := NewBatches()
		load := func(c cluster.Cache, names ...string) {
			for _, name := range names {
				s := Store{Client: f, Cache: c, Batches: batches, Ref: parentRef, Set: name, Identity: object.DefaultIdentity()}
				s.Ref.Name = name
				if _, err := s.Load(t.Context(), Stored{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		connection := func() cluster.Cache { return &watch{few: f, fakeCache: fakeCache{target: &f.fakeTarget}} }
		waiting := connection()
		load(waiting, "a")
		batches.by = bytelru.New[cluster.Cache, *batch]("test", 5*batches.by.Size())
		load(waiting, "a")
		for range 6 {
			load(connection(), "a", "b", "c")
		}
		f.requests = nil
		load(waiting, "b", "c")
		if len(f.requests) > 0 {
			t.Errorf("want the other inventories to be kept, got requests %q", f.requests)
		}
	})
}
