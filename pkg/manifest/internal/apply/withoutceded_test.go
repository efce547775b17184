// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Observers ask which fields are ceded, too. They have no entry for an object that was never applied.
func TestWithoutCededUnknown(t *testing.T) {
	s := newSite(t)
	s.apply(t, desired(t, cm))
	contend(t)(s)
	o := desired(t, cm)
	for name, managed := range map[string]bool{"Managed": true, "Unmanaged": false} {
		t.Run(name, func(t *testing.T) {
			fields := s.c.Object(o.Ref).GetManagedFields()
			if !managed {
				fields = nil
			}
			out, ceded, err := s.writer().Ceding.withoutCeded(t.Context(), o, nil, fields)
			if err != nil || len(ceded) > 0 {
				t.Errorf("withoutCeded(...): %v, %v", ceded, err)
			}
			if diff := cmp.Diff(o.Content(), out.Content()); diff != "" {
				t.Errorf("withoutCeded(...): nothing is ceded: -want, +got:\n%s", diff)
			}
		})
	}
}

// The target of an autoscaler may be of the core group, which its reference leaves out.
func TestTargets(t *testing.T) {
	s := newSite(t)
	s.c.Create("kubectl", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: apps},
spec: {scaleTargetRef: {apiVersion: v1, kind: ReplicationController, name: rc}}}`)
	autoscaled(s)
	got, err := s.writer().Ceding.targets(t.Context(), "apps")
	if err != nil {
		t.Fatal(err)
	}
	want := targets{
		refOf(deploy): true, {Kind: "ReplicationController", Namespace: "apps", Name: "rc"}: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets(...): -want, +got:\n%s", diff)
	}
}
