// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// untilResync is longer than the five minutes after which an API server retries the deletion of a CRD. The finalizer of the API
// server fails while the storage of a new kind is being set up. It retries before its cache has the status that it has written
// itself, and after the conflict it waits for an event that never comes.
const untilResync = 8 * time.Minute

// TestUndeployCRDs checks that undeploy deletes the CRDs only if no objects of their kinds exist.
func TestUndeployCRDs(t *testing.T) {
	wipe(t)
	succeed(t, newDeploy, "-n", "crds", "--in-cluster")
	succeed(t, newDeploy, "-n", "crds", "--provider-config", "control-plane", "--kyma", "second")

	r := run(t, NewUndeploy, "-n", "crds", "--crds")
	if command.CodeOf(r.err) != command.ExitFailure || !strings.Contains(r.err.Error(), "Kyma crds/second, ClusterProviderConfig control-plane") {
		t.Errorf("undeploy --crds while there are objects: want exit code %d and their names, got %v", command.ExitFailure, r.err)
	}
	for _, o := range crdObjects(t) {
		mustGet(t, o)
	}
	r = runFor(t, untilResync, NewUndeploy, "-n", "crds", "--crds", "--kyma", "second", "-o", "json")
	if r.err != nil {
		t.Fatalf("undeploy --crds: %v\n%s%s", r.err, r.out, r.said)
	}
	got := actions(t, r)
	for _, o := range crdObjects(t) {
		if got[o.Words()] != apply.Deleted || get(t, o) != nil {
			t.Errorf("undeploy --crds: want %s deleted, got %s", o.Words(), got[o.Words()])
		}
	}
	got = actions(t, succeed(t, NewUndeploy, "-n", "crds", "--crds", "--templates", "-o", "json"))
	for name, a := range got {
		if a != apply.Unchanged {
			t.Errorf("undeploy --crds again: want %s unchanged, got %s", name, a)
		}
	}
	r = run(t, NewDeploy, "-n", "crds", "--in-cluster", "--skip-crds")
	if command.CodeOf(r.err) != command.ExitNotFound || !strings.Contains(r.err.Error(), "omit --skip-crds") {
		t.Errorf("deploy --skip-crds without CRDs: want exit code %d and what to do, got %v", command.ExitNotFound, r.err)
	}
}

// TestKindsOf checks that undeploy looks for objects of every kind whose CRD it deletes.
func TestKindsOf(t *testing.T) {
	kinds, err := kindsOf()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, kind := range kinds {
		got[kind.String()] = true
	}
	all, err := apply.ReadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, d := range all {
		kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		if kind != v1alpha1.ProviderConfigUsageKind {
			want[group+"/"+v1alpha1.Version+", Kind="+kind] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kindsOf(): -want, +got:\n%s", diff)
	}
}

// TestUndeployCRDsInUse checks that undeploy deletes no CRD while there are objects that only the control plane has, although no
// cluster has modules anymore.
func TestUndeployCRDsInUse(t *testing.T) {
	wipe(t)
	defined(t)
	objects := []*unstructured.Unstructured{
		apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.KymaSetGroupVersionKind, Name: "in-use"}, map[string]any{
			"spec": map[string]any{"providerConfigs": map[string]any{}, "template": map[string]any{"spec": map[string]any{}}},
		}),
		apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.ModuleReleaseMetaGroupVersionKind, Name: "in-use"}, map[string]any{
			"spec": map[string]any{"moduleName": "in-use", "channels": []any{map[string]any{"channel": "regular", "version": "1.0.0"}}},
		}),
		apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.RolloutPolicyGroupVersionKind, Name: "in-use"}, map[string]any{"spec": map[string]any{}}),
	}
	for _, u := range objects {
		if err := plane.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		for _, u := range objects {
			if err := errors.Join(plane.Patch(context.Background(), u, free), plane.Delete(context.Background(), u)); err != nil {
				t.Error(err)
			}
		}
	})
	// As the provider does.
	patch(t, apply.ObjectOf(objects[0]), `{"metadata":{"finalizers":["kyma.m.crossplane.io/kymaset"]}}`)
	const want = "KymaSet in-use, ModuleReleaseMeta in-use, RolloutPolicy in-use"
	cases := map[string]struct {
		reason string
		args   []string
	}{
		"CRDs":    {"The CRDs would take the objects with them.", []string{"--templates", "--crds"}},
		"Package": {"Crossplane deletes the CRDs of a package with it.", []string{"--package"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := runFor(t, 20*time.Second, NewUndeploy, append(tc.args, "-n", "in-use")...)
			if command.CodeOf(r.err) != command.ExitFailure || !strings.Contains(r.err.Error(), want) {
				t.Errorf("%s\nundeploy %s: want exit code %d and %q, got %v", tc.reason, tc.args, command.ExitFailure, want, r.err)
			}
			for _, u := range objects {
				if get(t, apply.ObjectOf(u)) == nil {
					t.Errorf("%s\nundeploy %s: %s is gone", tc.reason, tc.args, apply.ObjectOf(u).Words())
				}
			}
		})
	}
}
