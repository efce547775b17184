// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// TestServerFence checks that a real API server refuses to apply or delete an inventory that was changed, deleted or replaced.
func TestServerFence(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := connected()
	defer c.Close()
	s := inventory.Store{
		Client: ssa.New(c, manifest.DefaultFieldManager), Cache: c.Cache(), SyncTimeout: time.Second, Set: "applyset-fence",
		Ref: cluster.ObjectRef{Kind: "Secret", Namespace: "fence", Name: "web"}, Identity: object.DefaultIdentity(),
	}
	inv := func(names ...string) *inventory.Inventory {
		out := &inventory.Inventory{}
		for _, n := range names {
			out.Objects = append(out.Objects, inventory.Entry{Version: "v1", Kind: "ConfigMap", Namespace: "fence", Name: n})
		}
		return out
	}
	must := func(st inventory.Stored, err error) inventory.Stored {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	refused := func(st inventory.Stored, err error) {
		t.Helper()
		if changed := (*inventory.ChangedError)(nil); !errors.As(err, &changed) || st.Inventory != nil {
			t.Errorf("want a ChangedError, got %+v, %v", st, err)
		}
	}
	holds := func(names ...string) inventory.Stored {
		t.Helper()
		st := must(s.LoadUnwatched(ctx, inventory.Stored{}))
		if want := inv(names...); st.Inventory == nil || !want.Equal(st.Inventory) {
			t.Errorf("want %+v, got %+v", want, st.Inventory)
		}
		return st
	}

	first := must(s.Create(ctx, inventory.Stored{}, inv("a")))
	second := must(s.Save(ctx, first, inv("a", "b")))
	same := must(s.Save(ctx, second, inv("a", "b")))
	if same.Version != second.Version || same.UID != first.UID || same.UID == "" {
		t.Errorf("a save that changes nothing: %+v after %+v", same, second)
	}
	refused(s.Save(ctx, first, inv("a", "c")))
	refused(s.Delete(ctx, first))
	holds("a", "b")

	must(s.Delete(ctx, second))
	refused(s.Save(ctx, second, inv("a", "b")))
	if st := must(s.LoadUnwatched(ctx, inventory.Stored{})); st.Inventory != nil {
		t.Errorf("the inventory is back: %+v", st)
	}
	must(s.Create(ctx, inventory.Stored{}, inv("d")))
	refused(s.Save(ctx, second, inv("a", "b")))
	refused(s.Delete(ctx, second))
	must(s.Delete(ctx, holds("d")))
}

// TestServerApplyTo checks how a real API server rejects an apply of an object that was deleted or replaced.
func TestServerApplyTo(t *testing.T) {
	c := connected()
	defer c.Close()
	client := ssa.New(c, manifest.DefaultFieldManager)
	configMap := func() *object.Desired {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"uid","namespace":"default"},"data":{"a":"b"}}`)); err != nil {
			t.Fatal(err)
		}
		o, err := object.New(u, "", object.StageConfiguration)
		if err != nil {
			t.Fatal(err)
		}
		return &o
	}
	first, _, err := client.Apply(t.Context(), configMap(), ssa.Create)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []ssa.Mode{ssa.Force, ssa.NoForce} {
		if _, _, err := client.ApplyTo(t.Context(), configMap(), first.UID, how); err != nil {
			t.Errorf("want that an object with the UID is applied, got %v", err)
		}
	}
	if _, err := client.Delete(t.Context(), configMap().GVK(), configMap().Ref, first.UID); err != nil {
		t.Fatal(err)
	}
	for _, how := range []ssa.Mode{ssa.Force, ssa.NoForce} {
		if _, _, err := client.ApplyTo(t.Context(), configMap(), first.UID, how); !ssa.IsReplaced(err) {
			t.Errorf("gone: want that IsReplaced, got %#v", err)
		}
	}
	if m, err := client.Metadata(t.Context(), configMap().GVK(), configMap().Ref); m != nil || err != nil {
		t.Errorf("want that the object stays deleted, got %v, %v", m, err)
	}
	second, _, err := client.Apply(t.Context(), configMap(), ssa.Create)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []ssa.Mode{ssa.Force, ssa.NoForce} {
		if _, _, err := client.ApplyTo(t.Context(), configMap(), first.UID, how); !ssa.IsReplaced(err) {
			t.Errorf("replaced: want that IsReplaced, got %#v", err)
		}
	}
	if m, err := client.Metadata(t.Context(), configMap().GVK(), configMap().Ref); err != nil || m == nil || string(m.UID) != second.UID {
		t.Errorf("want that the other object stays, got %v, %v", m, err)
	}
}
