// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestMatters(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Manifest)
		want   bool
	}{
		"Nothing":    {"A resync is no change.", func(*v1alpha1.Manifest) {}, false},
		"Annotation": {"Annotations of others do not matter.", func(m *v1alpha1.Manifest) { m.Annotations = map[string]string{"a": "b"} }, false},
		"Finalizer":  {"Nor do finalizers.", func(m *v1alpha1.Manifest) { m.Finalizers = []string{"x"} }, false},
		"Counts":     {"Nor does what the Kyma does not show.", func(m *v1alpha1.Manifest) { m.Status.AtProvider.Resources = &v1alpha1.ResourceCounts{Total: 3} }, false},
		"Spec":       {"The spec does.", func(m *v1alpha1.Manifest) { m.Generation++ }, true},
		"State":      {"The state does.", in(v1alpha1.StateWarning, ""), true},
		"Message":    {"The message does.", in(v1alpha1.StateReady, "x"), true},
		"Deletion":   {"Deletion does.", deleted, true},
		"Seen":       {"So does that the spec was seen.", func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(2)) }, true},
		"Verified": {"So do signatures.", func(m *v1alpha1.Manifest) {
			m.SetConditions(condition(corev1.ConditionFalse, v1alpha1.ReasonNotVerified, "x"))
		}, true},
		"Label": {"So do labels, which are put back.", func(m *v1alpha1.Manifest) { delete(m.Labels, v1alpha1.LabelChannel) }, true},
		"Owner": {"So does the owner.", func(m *v1alpha1.Manifest) { m.OwnerReferences = nil }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
			is := was.DeepCopy()
			tc.change(is)
			if got := matters(was, is); got != tc.want {
				t.Errorf("\n%s\nmatters(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *v1alpha1.ModuleTemplate)
		want   bool
	}{
		"Nothing":   {"A resync is no change.", func(*v1alpha1.ModuleTemplate) {}, false},
		"Label":     {"Labels of others do not matter.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{"a": "b"} }, false},
		"Handled":   {"Nor does that a request was handled.", func(t *v1alpha1.ModuleTemplate) { t.Status.LastHandledReconcileAt = "x" }, false},
		"Module":    {"The label with the name of the module does.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{v1alpha1.LabelModuleName: "b"} }, true},
		"Spec":      {"The spec does.", func(t *v1alpha1.ModuleTemplate) { t.Generation++ }, true},
		"Digest":    {"Another content does.", func(t *v1alpha1.ModuleTemplate) { t.Status.Digest = "x" }, true},
		"Condition": {"So does that it cannot be resolved.", func(t *v1alpha1.ModuleTemplate) { t.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"Downgrade": {"So does leave to go back.", func(t *v1alpha1.ModuleTemplate) {
			t.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "1"}
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := newTemplate("a", "regular", "1.0.0")
			is := was.DeepCopy()
			tc.change(is)
			if got := changed(&was, is); got != tc.want {
				t.Errorf("\n%s\nchanged(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConcerns(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b", Channel: "fast"}, v1alpha1.Module{Name: "c"})
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "c", State: v1alpha1.StateError}}
	cases := map[string]struct {
		reason, module, channel string
		want                    bool
	}{
		"Channel":      {"A module of the channel of the Kyma.", "a", "regular", true},
		"OtherChannel": {"Not of another one.", "a", "fast", false},
		"OwnChannel":   {"A module of its own channel.", "b", "fast", true},
		"Listed":       {"A module in error lists the channels that there are.", "c", "beta", true},
		"Unknown":      {"A module that is not wanted.", "d", "regular", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := concerns(k, tc.module, tc.channel); got != tc.want {
				t.Errorf("\n%s\nconcerns(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestNameOfKyma(t *testing.T) {
	m := installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
	if got := nameOfKyma(m); got != "k" {
		t.Errorf("nameOfKyma(...): %q", got)
	}
	m.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", Name: "o"}}
	if got := nameOfKyma(m); got != "" {
		t.Errorf("nameOfKyma(...): of somebody else: %q", got)
	}
}

func TestManifestName(t *testing.T) {
	long := make([]byte, maxName)
	for i := range long {
		long[i] = 'x'
	}
	a, b := manifestName(string(long), "a"), manifestName(string(long), "b")
	if manifestName("k", "a") != "k-a" || len(a) > maxName || a == b {
		t.Errorf("manifestName(...): %q, %q", a, b)
	}
}
