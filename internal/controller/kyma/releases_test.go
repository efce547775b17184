// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestKymasOf checks which Kymas a ModuleReleaseMeta concerns if none of them has reported the module yet, so that the index by modules
// does not have them.
func TestKymasOf(t *testing.T) {
	c := &test.MockClient{MockList: func(_ context.Context, l client.ObjectList, o ...client.ListOption) error {
		kymas, ok := l.(*v1alpha1.KymaList)
		if options := (&client.ListOptions{}).ApplyOptions(o); ok && options.FieldSelector == nil {
			kymas.Items = []v1alpha1.Kyma{*newKyma()}
		}
		return nil
	}}
	cases := map[string]struct {
		reason    string
		mandatory bool
		selects   bool
		want      int
	}{
		"Mandatory": {reason: "A Kyma that must have a module is queued before it has reported it.", mandatory: true, selects: true, want: 1},
		"Others":    {reason: "A Kyma that the change does not concern is not queued.", mandatory: true},
		"Channel":   {reason: "For channels, the index has all Kymas that enable the module.", selects: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &v1alpha1.ModuleReleaseMeta{}
			r.Spec.ModuleName = "a"
			if tc.mandatory {
				r.Spec.Mandatory = &v1alpha1.Release{Version: "1.0.0"}
			}
			got := (&watches{client: c}).kymasOf(t.Context(), r, func(*v1alpha1.Kyma) bool { return tc.selects })
			if len(got) != tc.want {
				t.Errorf("%s\nwant %d requests, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
