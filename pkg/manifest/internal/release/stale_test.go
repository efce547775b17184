// SPDX-License-Identifier: Apache-2.0

package release

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestIsStale(t *testing.T) {
	type args struct {
		namespace, revision, status string
		part                        inventory.Part
	}
	web := inventory.Part{Namespace: "apps", Revision: 3}
	cases := map[string]struct {
		reason string
		args   args
		want   bool
	}{
		"Current":   {reason: "The record of the deployed revision agrees with the inventory.", args: args{"apps", "3", record.StatusDeployed, web}},
		"Installed": {reason: "The record of the revision that is being installed agrees with the inventory.", args: args{"apps", "4", record.StatusPendingUpgrade, inventory.Part{Namespace: "apps", Revision: 3, Run: &inventory.Run{Revision: 4}}}},
		"History":   {reason: "A superseded revision is part of the history.", args: args{"apps", "2", record.StatusSuperseded, web}},
		"Failed":    {reason: "A failed revision is part of the history.", args: args{"apps", "2", record.StatusFailed, web}},
		"Deployed":  {reason: "Only one revision can be deployed.", args: args{"apps", "1", record.StatusDeployed, web}, want: true},
		"Pending":   {reason: "Nothing installs this revision.", args: args{"apps", "4", record.StatusPendingUpgrade, web}, want: true},
		"Elsewhere": {reason: "The inventory has no such release.", args: args{"other", "3", record.StatusSuperseded, web}, want: true},
		"Former":    {reason: "A release that is being moved still has its records.", args: args{"other", "3", record.StatusDeployed, inventory.Part{Namespace: "apps", Revision: 3, Former: "other"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: tc.args.namespace,
				Labels:    map[string]string{"name": "web", LabelRevision: tc.args.revision, LabelStatus: tc.args.status},
			}}
			inv := &inventory.Inventory{Parts: map[object.PartID]inventory.Part{"web": tc.args.part}}
			if got := IsStale(m, inv); got != tc.want {
				t.Errorf("\n%s\nIsStray(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
