// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func invalid(causes ...metav1.StatusCause) error {
	return &kerrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: causes}}}
}

func TestFields(t *testing.T) {
	cause := func(field, message string) metav1.StatusCause {
		return metav1.StatusCause{Field: field, Message: message}
	}
	cases := map[string]struct {
		reason string
		in     error
		want   []Field
	}{
		"Job": {
			reason: "The value is removed, whatever it contains.",
			in:     invalid(cause("spec.template", `Invalid value: {"metadata":{"note":"a: b"}}: field is immutable`)),
			want:   []Field{{"spec.template", "field is immutable"}},
		},
		"StatefulSet": {
			reason: "The mutable fields are part of the reason.",
			in:     invalid(cause("spec", "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden")),
			want:   []Field{{"spec", "updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"}},
		},
		"Service": {
			reason: "A field can be set only once.",
			in:     invalid(cause("spec.clusterIPs[0]", `Invalid value: ["None"]: may not change once set`)),
			want:   []Field{{"spec.clusterIPs[0]", "may not change once set"}},
		},
		"RoleBinding": {
			reason: "The API server has a special message for roleRef.",
			in:     invalid(cause("roleRef", `Invalid value: {"kind":"Role"}: cannot change roleRef`)),
			want:   []Field{{"roleRef", "cannot change roleRef"}},
		},
		"StorageClass": {
			reason: "The API server has a special message for the fields of a StorageClass.",
			in: invalid(cause("parameters", "Forbidden: updates to parameters are forbidden."),
				cause("provisioner", "Forbidden: updates to provisioner are forbidden.")),
			want: []Field{{"parameters", "updates to parameters are forbidden."}, {"provisioner", "updates to provisioner are forbidden."}},
		},
		"ConfigMap": {
			reason: "The reason contains the word twice.",
			in:     invalid(cause("data", "Forbidden: field is immutable when `immutable` is set")),
			want:   []Field{{"data", "field is immutable when `immutable` is set"}},
		},
		"Claim": {
			reason: "The lines with the difference are removed.",
			in:     invalid(cause("spec", "Forbidden: spec is immutable after creation except resources.requests\n@@ -1 +1 @@\n secret: immutable")),
			want:   []Field{{"spec", "spec is immutable after creation except resources.requests"}},
		},
		"Priority": {
			reason: "\"May not be changed\" has the same meaning.",
			in:     invalid(cause("value", "Forbidden: may not be changed in an update.")),
			want:   []Field{{"value", "may not be changed in an update."}},
		},
		"Rule": {
			reason: "A validation rule of a CRD has this wording.",
			in:     invalid(cause("spec.region", `Invalid value: "string": Value is immutable`)),
			want:   []Field{{"spec.region", "Value is immutable"}},
		},
		"Both": {
			reason: "An object that is also invalid for another reason must not be deleted, because it could not be recreated.",
			in: invalid(cause("spec.selector", "Invalid value: {}: field is immutable"),
				cause("spec.template.spec.containers", "Required value")),
		},
		"Wrong":   {reason: "A wrong value is not an immutable field.", in: invalid(cause("spec.replicas", "Invalid value: -1: must be greater than or equal to 0"))},
		"NoCause": {reason: "An error without a cause names no field.", in: invalid()},
		"Other":   {reason: "Other errors are ignored.", in: kerrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "a", errors.New("field is immutable"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Fields(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPrecise(t *testing.T) {
	type m = map[string]any
	type l = []any
	cases := map[string]struct {
		reason     string
		want, live m
		name       string
	}{
		"Changed": {
			reason: "Mutable fields are skipped, and additions of the API server or other clients do not count.",
			want:   m{"replicas": int64(2), "serviceName": "new", "selector": m{"app": "web"}, "volumeClaimTemplates": l{m{"name": "data"}}},
			live: m{
				"replicas": int64(1), "serviceName": "old", "selector": m{"app": "web", "added": "x"},
				"volumeClaimTemplates": l{m{"name": "data", "status": m{}}},
			},
			name: "spec.serviceName",
		},
		"Same": {
			reason: "If nothing differs, the field stays as the API server named it.",
			want:   m{"serviceName": "a"},
			live:   m{"serviceName": "a"},
			name:   "spec",
		},
		"EmptyText": {
			reason: "An empty value that the API server defaults does not count if another field differs.",
			want:   m{"podManagementPolicy": "", "volumeClaimTemplates": l{m{"size": "2Gi"}}},
			live:   m{"podManagementPolicy": "OrderedReady", "volumeClaimTemplates": l{m{"size": "1Gi"}}},
			name:   "spec.volumeClaimTemplates",
		},
		"EmptyOfEachType": {
			reason: "Null, zero, false, and empty maps and lists do not count on any level if another field differs.",
			want: m{
				"a": nil, "b": int64(0), "c": false, "d": m{}, "e": l{}, "f": m{"inner": ""}, "g": 0.0,
				"h": l{m{"name": "x", "inner": nil}}, "serviceName": "new",
			},
			live: m{
				"a": "default", "b": int64(1), "c": true, "d": m{"x": "y"}, "e": l{"x"}, "f": m{"inner": "default"}, "g": 1.5,
				"h": l{m{"name": "x", "inner": "default"}}, "serviceName": "old",
			},
			name: "spec.serviceName",
		},
		"OnlyEmpty": {
			reason: "If nothing else differs, an empty value counts. It can have a meaning, as the empty storage class has.",
			want:   m{"storageClassName": "", "resources": m{"requests": m{"storage": "1Gi"}}},
			live:   m{"storageClassName": "fast", "resources": m{"requests": m{"storage": "1Gi"}}},
			name:   "spec.storageClassName",
		},
		"Quantity": {
			reason: "The same quantity in another notation is equal.",
			want:   m{"volumeClaimTemplates": l{m{"storage": "1024Mi", "cpu": int64(2)}}, "serviceName": "new"},
			live:   m{"volumeClaimTemplates": l{m{"storage": "1Gi", "cpu": "2"}}, "serviceName": "old"},
			name:   "spec.serviceName",
		},
		"OtherQuantity": {
			reason: "Different quantities differ.",
			want:   m{"storage": "2048Mi"},
			live:   m{"storage": "1Gi"},
			name:   "spec.storage",
		},
		"Number": {
			reason: "Only one of the numbers has a fraction.",
			want:   m{"a": 1.0, "serviceName": "new"},
			live:   m{"a": int64(1), "serviceName": "old"},
			name:   "spec.serviceName",
		},
		"FewerItems": {
			reason: "Lists with different items differ.",
			want:   m{"volumeClaimTemplates": l{m{"name": "a"}}},
			live:   m{"volumeClaimTemplates": l{m{"name": "a"}, m{"name": "b"}}},
			name:   "spec.volumeClaimTemplates",
		},
		"NotThere": {
			reason: "An added field differs.",
			want:   m{"volumeClaimTemplates": l{m{"name": "a"}}, "podManagementPolicy": ""},
			live:   m{"podManagementPolicy": "OrderedReady"},
			name:   "spec.volumeClaimTemplates",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Field{Name: "spec", Reason: "fields other than 'replicas' are forbidden"}
			got := f.Precise(m{"spec": tc.want}, m{"spec": tc.live})
			if diff := cmp.Diff([]string{tc.name}, got); diff != "" {
				t.Errorf("\n%s\nPrecise(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompared(t *testing.T) {
	type m = map[string]any
	type l = []any
	live := m{
		"podManagementPolicy": "OrderedReady", "serviceName": "db", "replicas": int64(3), "added": "by another manager",
		"volumeClaimTemplates": l{m{"storage": "1Gi", "class": "fast", "volumeMode": "Filesystem"}},
	}
	with := func(changes m) m {
		out := maps.Clone(live)
		delete(out, "added")
		for k, v := range changes {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
		return out
	}
	cases := map[string]struct {
		reason        string
		want, created m
		owned         []string
		name          string
	}{
		"Default": {
			reason:  "A defaulted value does not count.",
			want:    m{"podManagementPolicy": "", "volumeClaimTemplates": l{}},
			created: with(m{"volumeClaimTemplates": l{m{"storage": "2Gi", "class": "fast", "volumeMode": "Filesystem"}}}),
			name:    "spec.volumeClaimTemplates",
		},
		"Removed": {
			reason:  "A field that was applied and is no longer desired differs.",
			want:    m{"podManagementPolicy": ""},
			created: with(m{"volumeClaimTemplates": nil}),
			owned:   []string{"podManagementPolicy", "volumeClaimTemplates"},
			name:    "spec.volumeClaimTemplates",
		},
		"RemovedInside": {
			reason:  "A field that lost one of its subfields differs.",
			want:    m{"podManagementPolicy": "", "volumeClaimTemplates": l{}},
			created: with(m{"volumeClaimTemplates": l{m{"storage": "1Gi", "volumeMode": "Filesystem"}}}),
			name:    "spec.volumeClaimTemplates",
		},
		"MayChange": {
			reason:  "Mutable fields are skipped.",
			want:    m{"replicas": int64(1), "serviceName": "other"},
			created: with(m{"replicas": int64(1), "serviceName": "other"}),
			name:    "spec.serviceName",
		},
		"Same": {
			reason:  "If no field of ours differs, the field stays as the API server named it.",
			want:    m{"serviceName": "db"},
			created: with(nil),
			name:    "spec",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Field{Name: "spec", Reason: "fields other than 'replicas' are forbidden"}
			got := f.Compared(m{"spec": tc.want}, m{"spec": tc.created}, m{"spec": live}, func(k string) bool { return slices.Contains(tc.owned, k) })
			if diff := cmp.Diff([]string{tc.name}, got); diff != "" {
				t.Errorf("\n%s\nCompared(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzReasonOf(f *testing.F) {
	f.Add(`Invalid value: "x: y": field is immutable`)
	f.Add("Forbidden: updates to a are forbidden")
	f.Fuzz(func(t *testing.T, message string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(message))()
		if r := reasonOf(message); len(r) > len(message) || strings.Join(strings.Fields(r), " ") != r {
			t.Errorf("%q of %q", r, message)
		}
	})
}
