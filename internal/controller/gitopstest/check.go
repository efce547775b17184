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

// Health is the health of an object according to kstatus, which Flux uses, and according to the built-in rule of Argo CD.
type Health struct {
	Kstatus, ArgoCD string
}

// These are healths that several statuses have.
var (
	// Works is the health of an object that works.
	Works = Health{Kstatus: "Current", ArgoCD: healthy} //nolint:gochecknoglobals // Constant.
	// Waits is the health of an object that does not work yet.
	Waits = Health{Kstatus: "InProgress", ArgoCD: progressing} //nolint:gochecknoglobals // Constant.
	// Failed is the health of an object that does not work until someone changes something. The built-in rule of Argo CD
	// ignores the condition Stalled, and waits.
	Failed = Health{Kstatus: "Failed", ArgoCD: progressing} //nolint:gochecknoglobals // Constant.
	// Refused is the health of an object for which the provider could not do its work.
	Refused = Health{Kstatus: "InProgress", ArgoCD: degraded} //nolint:gochecknoglobals // Constant.
	// Removed is the health of an object that is being deleted.
	Removed = Health{Kstatus: "Terminating", ArgoCD: progressing} //nolint:gochecknoglobals // Constant.
)

// A Case is an object with a status that a controller wrote.
type Case struct {
	Reason string
	Object client.Object
	// OK is set if the object works from the point of view of a user.
	OK bool
	// Stale is set for a status of an earlier generation. Argo CD does not compare generations, and the next pass is about to
	// follow.
	Stale bool
	Want  Health
}

// Check checks the health of objects in each tool. It also fails if a tool is expected to treat a broken object as healthy,
// or to wait for an object that works. Argo CD can report a working object as Degraded: its rule does so for all objects that
// are paused or whose last pass failed.
func Check(t *testing.T, cases map[string]Case) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := unstructuredOf(t, tc.Object)
			status, err := kstatus(u)
			if err != nil {
				t.Fatal(err)
			}
			got := Health{Kstatus: status, ArgoCD: argoCD(u)}
			if diff := cmp.Diff(tc.Want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\nconditions: %v", tc.Reason, diff, conditionsOf(u))
			}
			if (got.Kstatus == Works.Kstatus) != tc.OK ||
				!tc.Stale && got.ArgoCD != degraded && (got.ArgoCD == healthy) != tc.OK {
				t.Errorf("\n%s\nno tool may take it for the contrary: it works %t, got %+v", tc.Reason, tc.OK, got)
			}
		})
	}
}

// unstructuredOf returns an object as an API server returns it.
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
