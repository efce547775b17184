// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
)

func TestTested(t *testing.T) {
	manifest := func(change func(m *v1alpha1.Manifest)) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "web", Generation: 2, Annotations: map[string]string{v1alpha1.AnnotationTest: "now"},
		}}
		change(m)
		return m
	}
	result := func(token string, state v1alpha1.State, tests ...v1alpha1.TestStatus) *v1alpha1.Manifest {
		return manifest(func(m *v1alpha1.Manifest) {
			m.Status.AtProvider.Tests = &v1alpha1.TestsStatus{Token: token, State: state, Tests: tests}
		})
	}
	one := v1alpha1.TestStatus{Kind: "Pod", Namespace: "a", Name: "one", State: v1alpha1.StateError}
	two := v1alpha1.TestStatus{Kind: "Pod", Namespace: "a", Name: "two", State: v1alpha1.StateProcessing}
	type want struct {
		result await.Result
		err    string
	}
	cases := map[string]struct {
		reason   string
		manifest *v1alpha1.Manifest
		want     want
	}{
		"Ready":  {"All tests have succeeded.", result("now", v1alpha1.StateReady), want{result: await.Result{Met: true}}},
		"Failed": {"A test has failed, and none is running.", result("now", v1alpha1.StateError, one), want{result: await.Result{Met: true}}},
		"Runs":   {"A test has failed while another one is running.", result("now", v1alpha1.StateError, one, two), want{result: await.Result{Message: "Pod a/two is running"}}},
		"Begun":  {"The tests have started, but none is listed yet.", result("now", v1alpha1.StateProcessing), want{result: await.Result{Message: "the tests are running"}}},
		"Before": {
			"Results of another token do not count.", result("before", v1alpha1.StateReady),
			want{result: await.Result{Message: "the tests have not started: the provider has not processed the request yet"}},
		},
		"Says": {
			"The message of the Manifest says why.", manifest(func(m *v1alpha1.Manifest) { m.Status.AtProvider.Message = "0 of 1" }),
			want{result: await.Result{Message: "the tests have not started: 0 of 1"}},
		},
		"Paused": {
			"The provider does not reconcile it.", manifest(func(m *v1alpha1.Manifest) { m.Annotations["crossplane.io/paused"] = "true" }),
			want{result: await.Result{Message: "paused by annotation crossplane.io/paused"}},
		},
		"Error": {
			"The Manifest cannot be reconciled.", manifest(func(m *v1alpha1.Manifest) {
				m.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(2))
			}),
			want{result: await.Result{Message: "no"}},
		},
		"Taken": {
			"Another client has requested tests.", manifest(func(m *v1alpha1.Manifest) { m.Annotations[v1alpha1.AnnotationTest] = "later" }),
			want{err: "another client has requested tests"},
		},
		"Deleted": {
			"The Manifest is being deleted.", manifest(func(m *v1alpha1.Manifest) { m.DeletionTimestamp = &metav1.Time{Time: time.Now()} }),
			want{err: "is being deleted"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tested(tc.manifest, "now")
			if (err != nil) != (tc.want.err != "") || err != nil && !strings.Contains(err.Error(), tc.want.err) {
				t.Fatalf("\n%s\ntested(...): want an error with %q, got %v", tc.reason, tc.want.err, err)
			}
			if diff := cmp.Diff(tc.want.result, got); diff != "" {
				t.Errorf("\n%s\ntested(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
