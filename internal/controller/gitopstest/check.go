// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Health is the health of an object according to kstatus, which Flux uses, to the built-in rule of Argo CD, and to the rule for Argo
// CD in docs/gitops.md.
type Health struct {
	Kstatus, ArgoCD, Documented string
}

// These are healths that several statuses have.
var (
	// Works is the health of an object that works.
	Works = Health{Kstatus: "Current", ArgoCD: healthy, Documented: healthy} //nolint:gochecknoglobals // Constant.
	// Waits is the health of an object that does not work yet.
	Waits = Health{Kstatus: "InProgress", ArgoCD: progressing, Documented: progressing} //nolint:gochecknoglobals // Constant.
	// Failed is the health of an object that does not work until someone changes something.
	Failed = Health{Kstatus: "Failed", ArgoCD: degraded, Documented: degraded} //nolint:gochecknoglobals // Constant.
	// Refused is the health of an object for which the provider could not do its work.
	Refused = Health{Kstatus: "InProgress", ArgoCD: degraded, Documented: degraded} //nolint:gochecknoglobals // Constant.
	// FailedComposite is the health of a composite resource that does not work until someone changes something. Crossplane writes
	// its conditions, so only the documented rule detects the failure.
	FailedComposite = Health{Kstatus: "InProgress", ArgoCD: progressing, Documented: degraded} //nolint:gochecknoglobals // Constant.
	// Removed is the health of an object that is being deleted.
	Removed = Health{Kstatus: "Terminating", ArgoCD: progressing, Documented: progressing} //nolint:gochecknoglobals // Constant.
)

// A Case is an object with a status that a controller wrote.
type Case struct {
	Reason string
	Object client.Object
	// OK is set if the object works from the point of view of a user.
	OK bool
	// Stale is set for a status of an earlier generation. The built-in rule of Argo CD does not compare generations, and the
	// next pass is about to follow.
	Stale bool
	Want  Health
}

// Check checks the health of objects in each tool. It also fails if a tool is expected to treat a broken object as healthy,
// or to wait for an object that works or that only a change can fix. Argo CD can report a working object as Degraded: its rule
// does so for all objects that are paused or whose last pass failed. With both of its rules, Argo CD must report each failure
// that kstatus reports.
func Check(t *testing.T, cases map[string]Case) {
	t.Helper()
	rules := documentedRules(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := unstructuredOf(t, tc.Object)
			status, err := kstatus(u)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			documented, message, err := runRule(ctx, rules[u.GroupVersionKind().Group], u)
			if err != nil {
				t.Fatal(err)
			}
			got := Health{Kstatus: status, ArgoCD: argoCD(u), Documented: documented}
			if diff := cmp.Diff(tc.Want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\nconditions: %v", tc.Reason, diff, conditionsOf(u))
			}
			if why := tc.contradiction(got); why != "" {
				t.Errorf("\n%s\n%s: it works %t, got %+v", tc.Reason, why, tc.OK, got)
			}
			if documented == degraded && message == "" {
				t.Errorf("\n%s\nthe documented rule must return the message of a failure", tc.Reason)
			}
		})
	}
}

// contradiction returns why a health is the contrary of what the object is, or an empty string.
func (c *Case) contradiction(h Health) string {
	if (h.Kstatus == Works.Kstatus) != c.OK || !c.Stale && h.ArgoCD != degraded && (h.ArgoCD == healthy) != c.OK {
		return "no tool may take it for the contrary"
	}
	if h.Kstatus == Failed.Kstatus && h.ArgoCD != degraded {
		return "the built-in rule of Argo CD waits for it"
	}
	switch h.Documented {
	case healthy:
		if !c.OK {
			return "the documented rule takes it for one that works"
		}
	case progressing:
		if c.OK || h.Kstatus == Failed.Kstatus {
			return "the documented rule waits for it"
		}
	}
	return ""
}

// unstructuredOf returns an object as an API server returns it.
func unstructuredOf(t *testing.T, o client.Object) *unstructured.Unstructured {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u
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
