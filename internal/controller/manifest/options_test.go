// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestOptions(t *testing.T) {
	cases := map[string]struct {
		reason      string
		annotations map[string]string
		choice      choice
		want        engine.CallOptions
	}{
		"None":    {reason: "A Manifest asks for nothing by default."},
		"Retry":   {reason: "A request to reconcile runs hooks that failed again.", annotations: map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"}, want: engine.CallOptions{Retry: "now"}},
		"Test":    {reason: "Each value of the annotation runs the tests once.", annotations: map[string]string{v1alpha1.AnnotationTest: "run-1"}, want: engine.CallOptions{Test: "run-1"}},
		"Force":   {reason: "Only true asks for a forced removal.", annotations: map[string]string{v1alpha1.AnnotationForceRemoval: "true"}, want: engine.CallOptions{ForceRemoval: true}},
		"NoForce": {reason: "Another value does not.", annotations: map[string]string{v1alpha1.AnnotationForceRemoval: "yes"}},
		"Keep": {
			reason: "The desired revision is stored once it is Ready.",
			choice: choice{decision: rollback.Decision{Action: rollback.InstallAndKeep}, keep: []byte("desired")},
			want:   engine.CallOptions{Checkpoint: []byte("desired")},
		},
		"BringBack": {
			reason: "After a rollback, the restored revision stays the last known good revision.",
			choice: choice{decision: rollback.Decision{Action: rollback.BringBack}, keep: []byte("last")},
			want:   engine.CallOptions{Checkpoint: []byte("last"), Rollback: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m")
			meta.AddAnnotations(mr, tc.annotations)
			tc.choice.report = &reporter{redactor: redact.New(hunter)}
			got := engine.CallOptionsOf(tc.choice.options(mr)...)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(engine.CallOptions{}, "Redact")); diff != "" {
				t.Errorf("\n%s\noptions(...): -want, +got:\n%s", tc.reason, diff)
			}
			if text := got.Redact(hunter); text != "(hidden)" {
				t.Errorf("\n%s\nwhat the engine stores must be redacted, got %q", tc.reason, text)
			}
		})
	}
}
