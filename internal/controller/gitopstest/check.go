// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Health is what the tools make of an object: kstatus, Argo CD with its built-in rule, and Flux with the documented expressions.
type Health struct {
	Kstatus, ArgoCD, Flux string
}

// Healths that several statuses have.
var (
	// Works means that there is nothing to wait for.
	Works = Health{Kstatus: "Current", ArgoCD: healthy, Flux: "Current"} //nolint:gochecknoglobals // Constant.
	// Waits means that it does not work yet.
	Waits = Health{Kstatus: "InProgress", ArgoCD: progressing, Flux: "InProgress"} //nolint:gochecknoglobals // Constant.
	// Failed means that it does not work until it is changed. Without a rule of their own, the tools wait.
	Failed = Health{Kstatus: "InProgress", ArgoCD: progressing, Flux: "Failed"} //nolint:gochecknoglobals // Constant.
	// Refused means that the provider could not do its work.
	Refused = Health{Kstatus: "InProgress", ArgoCD: degraded, Flux: "InProgress"} //nolint:gochecknoglobals // Constant.
	// Removed means that it is being deleted.
	Removed = Health{Kstatus: "Terminating", ArgoCD: progressing, Flux: "Terminating"} //nolint:gochecknoglobals // Constant.
)

// A Case is an object with a status that a controller wrote.
type Case struct {
	Reason string
	Object client.Object
	// OK is set if a user would say that the object works.
	OK bool
	// Stale is set for a status of an earlier generation. Argo CD does not compare generations, and the next pass is about to come.
	Stale bool
	Want  Health
}

// Check what the tools make of objects. It fails also for an expectation under which a tool takes a broken object for a healthy
// one, or waits for one that works. Argo CD may call an object Degraded that works: its rule calls all those so that are paused, or whose last pass failed.
func Check(t *testing.T, cases map[string]Case) {
	t.Helper()
	expressions, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := unstructuredOf(t, tc.Object)
			got := Health{ArgoCD: argoCD(u)}
			if got.Kstatus, err = kstatus(u); err != nil {
				t.Fatal(err)
			}
			if got.Flux, err = flux(u, expressions); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.Want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\nconditions: %v", tc.Reason, diff, conditionsOf(u))
			}
			if (got.Kstatus == Works.Kstatus) != tc.OK || (got.Flux == Works.Flux) != tc.OK ||
				!tc.Stale && got.ArgoCD != degraded && (got.ArgoCD == healthy) != tc.OK {
				t.Errorf("\n%s\nno tool may take it for the contrary: it works %t, got %+v", tc.Reason, tc.OK, got)
			}
		})
	}
}

// unstructuredOf an object, as an API server returns it.
func unstructuredOf(t *testing.T, o client.Object) *unstructured.Unstructured {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return u
}
