// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestStages(t *testing.T) {
	cases := map[schema.GroupKind]Stage{
		{Kind: "Namespace"}: StageNamespaces,
		CRDKind:             StageCRDs,
		{Kind: "Secret"}:    StageConfiguration,
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:                       StageConfiguration,
		{Group: "apps", Kind: "Deployment"}:                                             StageWorkloads,
		{Group: "example.org", Kind: "Widget"}:                                          StageWorkloads,
		{Group: "example.org", Kind: "Secret"}:                                          StageWorkloads,
		{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: StageWebhooks,
	}
	for gk, want := range cases {
		if got := StageOf(gk); got != want {
			t.Errorf("%s: want stage %d, got %d", gk, want, got)
		}
	}
}
