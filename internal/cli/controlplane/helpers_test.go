// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

type runtimeApply = runtime.ApplyConfiguration

func watching(t testing.TB) client.WithWatch {
	t.Helper()
	k, err := client.NewWithWatch(server.Config(), client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func deploymentFor(t testing.TB, k client.Client, namespace, kubeconfig string) *deployment {
	t.Helper()
	e := &command.Environment{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	o := &deployOptions{skipCRDs: true, target: kubeconfig, kyma: "default", modules: []moduleArg{{name: "m"}}}
	d := &deployment{o: o, namespace: namespace}
	if err := d.read(e); err != nil {
		t.Fatal(err)
	}
	d.plane = &apply.Plane{Client: k, Document: documents}
	d.applier = &apply.Applier{Environment: e, Plane: d.plane, Report: &apply.Report{Environment: e, Output: &command.Output{}}}
	return d
}

// wipe deletes the objects of the provider, and then the CRDs.
func wipe(t testing.TB) {
	t.Helper()
	all, err := apply.ReadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	r := &removal{
		e: &command.Environment{}, plane: &apply.Plane{Client: plane, Document: documents},
		report: &apply.Report{Environment: &command.Environment{Out: &bytes.Buffer{}}, Output: &command.Output{}},
	}
	kinds, err := kindsOf()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		items, err := r.plane.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		for i := range items {
			if len(items[i].GetFinalizers()) > 0 {
				patch(t, apply.ObjectOf(&items[i]), `{"metadata":{"finalizers":null}}`)
			}
			if err := r.remove(t.Context(), &items[i], nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, d := range all {
		if u := get(t, apply.ObjectOf(d)); u != nil {
			if err := r.remove(t.Context(), u, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// setCondition sets a condition as the provider would.
func setCondition(t testing.TB, o apply.Object, kind, status, message string) {
	t.Helper()
	u := mustGet(t, o)
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == kind
	})
	c := map[string]any{
		"type": kind, "status": status, "message": message, "reason": "Played", "lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
	}
	if kind == "Synced" {
		// As crossplane-runtime does, only for this condition.
		c["observedGeneration"] = u.GetGeneration()
	}
	conditions = append(conditions, c)
	if err := unstructured.SetNestedSlice(u.Object, conditions, "status", "conditions"); err != nil {
		t.Fatal(err)
	}
	if err := plane.Status().Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}
