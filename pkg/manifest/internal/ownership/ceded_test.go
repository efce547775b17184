// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	replicas    = `{"f:spec":{"f:replicas":{}}}`
	image       = `{"f:spec":{"f:image":{}}}`
	bundle      = `{"f:spec":{"f:caBundle":{}}}`
	certificate = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" // -----BEGIN CERTIFICATE-----
)

func TestCededOf(t *testing.T) {
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	entry := func(manager string, op metav1.ManagedFieldsOperationType, version, subresource, fields string) metav1.ManagedFieldsEntry {
		f := &metav1.FieldsV1{}
		f.SetRawBytes([]byte(fields))
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, APIVersion: version, Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: f}
	}
	deploy := func(fields map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": fields}}
	}
	service := func(bundle any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.x"}, "spec": map[string]any{"caBundle": bundle},
		}}
	}
	whole := map[string]any{"replicas": int64(1), "image": "a", "caBundle": "Q2c9PQ=="}
	scaled, injected := entry("x", update, "apps/v1", "scale", replicas), entry("cainjector", update, "v1", "", bundle)
	inConflict := Ceded{Path: image, Manager: "kubectl", Since: 7}
	type args struct {
		object    *unstructured.Unstructured
		managed   []metav1.ManagedFieldsEntry
		contended []Ceded
		scaling   Autoscaling
		err       error
	}
	type want struct {
		Ceded []Ceded
		// Asked is how often the autoscaled function is called.
		Asked int
		Err   string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Nothing": {reason: "Without other managers, nothing is ceded.", args: args{managed: []metav1.ManagedFieldsEntry{entry(us, apply, "apps/v1", "", image)}}},
		"Scale": {
			reason: "Autoscalers write through the scale subresource.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}}, Asked: 1},
		},
		"Replicas": {
			reason: "An autoscaler can also write the object itself.",
			args:   args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "", replicas)}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}}, Asked: 1},
		},
		"Unscaled": {reason: "Without an autoscaler, the replicas belong to the engine.", args: args{managed: []metav1.ManagedFieldsEntry{scaled}}, want: want{Asked: 1}},
		"Unknown": {
			reason: "If autoscalers cannot be listed, only the Kubernetes autoscaler counts.",
			args: args{
				managed: []metav1.ManagedFieldsEntry{scaled, entry("kube-controller-manager", update, "apps/v1", "", replicas)},
				scaling: UnknownAutoscaling,
			},
			want: want{Asked: 2},
		},
		"UnknownButKubernetes": {
			reason: "The Kubernetes autoscaler uses the scale subresource.",
			args:   args{managed: []metav1.ManagedFieldsEntry{entry("kube-controller-manager", update, "apps/v1", "scale", replicas)}, scaling: UnknownAutoscaling},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "kube-controller-manager"}}, Asked: 1},
		},
		"Failed": {
			reason: "An error of the lookup is returned.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, contended: []Ceded{inConflict}, scaling: Autoscaled, err: errors.New("later")},
			want:   want{Asked: 1, Err: "later"},
		},
		"Ours": {
			reason: "A field that the engine owns is not ceded, because the API server would remove it.",
			args: args{
				managed: []metav1.ManagedFieldsEntry{entry(us, apply, "apps/v1", "", `{"f:spec":{"f:replicas":{},"f:image":{}}}`), scaled}, contended: []Ceded{inConflict},
			},
		},
		"OtherVersion": {
			reason: "A field that the engine applied in another version is its own.",
			args: args{managed: []metav1.ManagedFieldsEntry{
				entry(us, apply, "apps/v1", "", image), entry(us, apply, "apps/v1beta1", "", replicas),
			}, scaling: Autoscaled},
		},
		"Status": {reason: "Other subresources are ignored.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "status", replicas)}, scaling: Autoscaled}},
		"Unwanted": {
			reason: "A field that the module does not set is not ceded.",
			args:   args{object: deploy(map[string]any{"image": "a"}), managed: []metav1.ManagedFieldsEntry{scaled}, scaling: Autoscaled},
		},
		"OtherField": {reason: "Other fields are not ceded.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "", image)}, scaling: Autoscaled}},
		"Malformed":  {reason: "Malformed managedFields are ignored.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "scale", "{")}}},
		"Injected": {
			reason: "A CA bundle is ceded if the module does not set one.",
			args:   args{object: service("Q2c9PQ=="), managed: []metav1.ManagedFieldsEntry{injected}},
			want:   want{Ceded: []Ceded{{Path: bundle, Manager: "cainjector"}}},
		},
		"InjectedNull": {
			reason: "A CA bundle of null counts as not set.",
			args:   args{object: service(nil), managed: []metav1.ManagedFieldsEntry{injected}},
			want:   want{Ceded: []Ceded{{Path: bundle, Manager: "cainjector"}}},
		},
		"Certificate": {reason: "A CA bundle that the module sets is not ceded.", args: args{object: service(certificate), managed: []metav1.ManagedFieldsEntry{injected}}},
		"OtherKind":   {reason: "A CA bundle of any other kind is not ceded.", args: args{managed: []metav1.ManagedFieldsEntry{injected}}},
		"Contended": {
			reason: "A contended field is ceded.",
			args:   args{contended: []Ceded{inConflict}}, want: want{Ceded: []Ceded{inConflict}},
		},
		"Once": {
			reason: "A field with a legitimate owner is ceded only once.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, contended: []Ceded{{Path: replicas, Manager: "x", Since: 7}, inConflict}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}, inConflict}, Asked: 1},
		},
		"NoPath": {reason: "A malformed path is ignored.", args: args{contended: []Ceded{{Path: "?", Manager: "x", Since: 7}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.args.object == nil {
				tc.args.object = deploy(whole)
			}
			o, err := object.New(tc.args.object, "web", object.StageOf(tc.args.object.GroupVersionKind().GroupKind()))
			if err != nil {
				t.Fatal(err)
			}
			var got want
			got.Ceded, err = CededOf(us, &o, tc.args.managed, tc.args.contended, func() (Autoscaling, error) {
				got.Asked++
				return tc.args.scaling, tc.args.err
			})
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCededOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A contended field is ceded for an hour and then due for a retry. A field with a legitimate owner is never due.
func TestContended(t *testing.T) {
	since := time.Unix(1_000_000, 0)
	contended, legitimate := Ceded{Path: image, Manager: "x", Since: since.Unix()}, Ceded{Path: replicas, Manager: "y"}
	cases := map[string]struct {
		reason string
		ceded  []Ceded
		after  time.Duration
		want   []Ceded
		due    bool
	}{
		"None":       {reason: "Nothing is ceded."},
		"Legitimate": {reason: "A legitimate owner keeps its field.", ceded: []Ceded{legitimate}, after: 2 * retryContended},
		"Before":     {reason: "A contended field stays ceded for an hour.", ceded: []Ceded{legitimate, contended}, after: retryContended - 1, want: []Ceded{contended}},
		"Due":        {reason: "After an hour, the retry is due.", ceded: []Ceded{legitimate, contended}, after: retryContended, due: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := since.Add(tc.after)
			if diff := cmp.Diff(tc.want, Contended(tc.ceded, now)); diff != "" {
				t.Errorf("\n%s\nContended(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := AnyDue(tc.ceded, now); got != tc.due {
				t.Errorf("\n%s\nAnyDue(...): want %t, got %t", tc.reason, tc.due, got)
			}
		})
	}
}
