// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Which fields are ceded is asked for by observers, too. They have no entry of an object that was never applied.
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
			out, ceded, err := s.writer().WithoutCeded(t.Context(), o, nil, fields)
			if err != nil || len(ceded) > 0 {
				t.Errorf("WithoutCeded(...): %v, %v", ceded, err)
			}
			if diff := cmp.Diff(o.Content(), out.Content()); diff != "" {
				t.Errorf("WithoutCeded(...): nothing is ceded: -want, +got:\n%s", diff)
			}
		})
	}
}

// Of the managers of an object only some may own a field legitimately.
func TestWithoutCededManagers(t *testing.T) {
	replicas := &metav1.FieldsV1{}
	replicas.SetRawBytes([]byte(`{"f:spec":{"f:replicas":{}}}`))
	entry := func(manager string, op metav1.ManagedFieldsOperationType, version, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, APIVersion: version, Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: replicas}
	}
	cases := map[string]struct {
		reason string
		entry  metav1.ManagedFieldsEntry
		want   bool
	}{
		"Scale":        {reason: "Autoscalers write through the subresource.", entry: entry("x", metav1.ManagedFieldsOperationUpdate, "apps/v1", "scale"), want: true},
		"Object":       {reason: "Others may write the object.", entry: entry("x", metav1.ManagedFieldsOperationUpdate, "apps/v1", ""), want: true},
		"Status":       {reason: "No other subresource counts.", entry: entry("x", metav1.ManagedFieldsOperationUpdate, "apps/v1", "status")},
		"OtherVersion": {reason: "What the engine applied in another version is not of others.", entry: entry(object.DefaultFieldManager, metav1.ManagedFieldsOperationApply, "apps/v1beta1", "")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			autoscaled(s)
			first := entry(object.DefaultFieldManager, metav1.ManagedFieldsOperationApply, "apps/v1", "")
			first.FieldsV1 = &metav1.FieldsV1{}
			first.FieldsV1.SetRawBytes([]byte(`{"f:spec":{"f:image":{}}}`))
			_, ceded, err := s.writer().WithoutCeded(t.Context(), desired(t, deploy), nil, []metav1.ManagedFieldsEntry{first, tc.entry})
			if err != nil || (len(ceded) > 0) != tc.want {
				t.Errorf("\n%s\nWithoutCeded(...): %v, %v", tc.reason, ceded, err)
			}
		})
	}
}

// The target of an autoscaler may be of the core group, which is not written.
func TestTargets(t *testing.T) {
	s := newSite(t)
	s.c.Create("kubectl", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: apps},
spec: {scaleTargetRef: {apiVersion: v1, kind: ReplicationController, name: rc}}}`)
	autoscaled(s)
	got, err := s.writer().targets(t.Context(), "apps")
	if err != nil {
		t.Fatal(err)
	}
	want := map[cluster.ObjectRef]bool{
		refOf(deploy): true, {Kind: "ReplicationController", Namespace: "apps", Name: "rc"}: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets(...): -want, +got:\n%s", diff)
	}
}
