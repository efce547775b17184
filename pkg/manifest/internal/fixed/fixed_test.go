// SPDX-License-Identifier: Apache-2.0

package fixed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
			reason: "A value is left out, whatever is in it.",
			in:     invalid(cause("spec.template", `Invalid value: {"metadata":{"note":"a: b"}}: field is immutable`)),
			want:   []Field{{"spec.template", "field is immutable"}},
		},
		"StatefulSet": {
			reason: "The fields that may change are part of the reason.",
			in:     invalid(cause("spec", "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden")),
			want:   []Field{{"spec", "updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"}},
		},
		"Service": {
			reason: "A field may be set once.",
			in:     invalid(cause("spec.clusterIPs[0]", `Invalid value: ["None"]: may not change once set`)),
			want:   []Field{{"spec.clusterIPs[0]", "may not change once set"}},
		},
		"RoleBinding": {
			reason: "This one says it in its own words.",
			in:     invalid(cause("roleRef", `Invalid value: {"kind":"Role"}: cannot change roleRef`)),
			want:   []Field{{"roleRef", "cannot change roleRef"}},
		},
		"StorageClass": {
			reason: "So does this one, for several fields.",
			in: invalid(cause("parameters", "Forbidden: updates to parameters are forbidden."),
				cause("provisioner", "Forbidden: updates to provisioner are forbidden.")),
			want: []Field{{"parameters", "updates to parameters are forbidden."}, {"provisioner", "updates to provisioner are forbidden."}},
		},
		"ConfigMap": {
			reason: "The word may be there twice.",
			in:     invalid(cause("data", "Forbidden: field is immutable when `immutable` is set")),
			want:   []Field{{"data", "field is immutable when `immutable` is set"}},
		},
		"Claim": {
			reason: "Lines that show what differs are left out, as are their values.",
			in:     invalid(cause("spec", "Forbidden: spec is immutable after creation except resources.requests\n@@ -1 +1 @@\n secret: immutable")),
			want:   []Field{{"spec", "spec is immutable after creation except resources.requests"}},
		},
		"Priority": {
			reason: "May not be changed is the same.",
			in:     invalid(cause("value", "Forbidden: may not be changed in an update.")),
			want:   []Field{{"value", "may not be changed in an update."}},
		},
		"Rule": {
			reason: "A rule of a definition may say so.",
			in:     invalid(cause("spec.region", `Invalid value: "string": Value is immutable`)),
			want:   []Field{{"spec.region", "Value is immutable"}},
		},
		"Both": {
			reason: "An object that is wrong in another way too must not be deleted, as it could not be created.",
			in: invalid(cause("spec.selector", "Invalid value: {}: field is immutable"),
				cause("spec.template.spec.containers", "Required value")),
		},
		"Wrong":   {reason: "A wrong value is no fixed one.", in: invalid(cause("spec.replicas", "Invalid value: -1: must be greater than or equal to 0"))},
		"NoCause": {reason: "Without a cause nothing is known.", in: invalid()},
		"Other":   {reason: "Another refusal is about something else.", in: kerrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "a", errors.New("field is immutable"))},
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
	f := Field{Name: "spec", Reason: "fields other than 'replicas' are forbidden"}
	want := map[string]any{"spec": map[string]any{
		"replicas": int64(2), "serviceName": "new", "selector": map[string]any{"app": "web"}, "volumeClaimTemplates": []any{map[string]any{"name": "data"}},
	}}
	live := map[string]any{"spec": map[string]any{
		"replicas": int64(1), "serviceName": "old", "selector": map[string]any{"app": "web", "added": "x"},
		"volumeClaimTemplates": []any{map[string]any{"name": "data", "status": map[string]any{}}},
	}}
	if got := f.Precise(want, live).Name; got != "spec.serviceName" {
		t.Errorf("got %q", got)
	}
	if got := f.Precise(live, live).Name; got != "spec" {
		t.Errorf("where nothing differs, it stays as it is: %q", got)
	}
}

func FuzzReasonOf(f *testing.F) {
	f.Add(`Invalid value: "x: y": field is immutable`)
	f.Add("Forbidden: updates to a are forbidden")
	f.Fuzz(func(t *testing.T, message string) {
		if r := reasonOf(message); len(r) > len(message) || strings.Join(strings.Fields(r), " ") != r {
			t.Errorf("%q of %q", r, message)
		}
	})
}
