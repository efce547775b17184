// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestPolicies checks that the policies of a Kyma reach each Manifest, whatever else prevents a change of the module: later, they decide whether its
// objects are removed.
func TestPolicies(t *testing.T) {
	regular := newTemplate("a", "regular", "1.0.0")
	keep := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	keeping := func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = keep }
	cases := map[string]struct {
		reason    string
		kyma      *v1alpha1.Kyma
		templates []v1alpha1.ModuleTemplate
		want      action
	}{
		"Content":   {"The content is the same.", changed(v1alpha1.Module{}, keeping), []v1alpha1.ModuleTemplate{regular}, actionRollOut},
		"Removed":   {"The same edit removes the module.", changed(v1alpha1.Module{}, keeping, func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Modules = nil }), nil, actionDelete},
		"Held":      {"The channel has a lower version.", changed(v1alpha1.Module{}, keeping), []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "0.9.0")}, actionPropagate},
		"NoContent": {"There is no ModuleTemplate.", changed(v1alpha1.Module{}, keeping), nil, actionPropagate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newPlanner(tc.kyma, tc.templates, installed(newKyma(), regular)).plan()[0]
			if s.action != tc.want || s.desired == nil {
				t.Fatalf("%s plan() = %s with %v, want %s", tc.reason, s.action, s.desired, tc.want)
			}
			if diff := cmp.Diff(keep, s.desired.Spec.ManagementPolicies); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
