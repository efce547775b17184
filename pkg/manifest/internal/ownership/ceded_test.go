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
		// Asked is how often it is asked for autoscalers.
		Asked int
		Err   string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Nothing": {reason: "Without other managers nothing is ceded.", args: args{managed: []metav1.ManagedFieldsEntry{entry(us, apply, "apps/v1", "", image)}}},
		"Scale": {
			reason: "Autoscalers write through the subresource.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}}, Asked: 1},
		},
		"Replicas": {
			reason: "Others may write the object.",
			args:   args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "", replicas)}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}}, Asked: 1},
		},
		"Unscaled": {reason: "Without an autoscaler they are ours.", args: args{managed: []metav1.ManagedFieldsEntry{scaled}}, want: want{Asked: 1}},
		"Unknown": {
			reason: "Where autoscalers may not be seen, any manager but that of Kubernetes is none.",
			args: args{
				managed: []metav1.ManagedFieldsEntry{scaled, entry("kube-controller-manager", update, "apps/v1", "", replicas)},
				scaling: UnknownAutoscaling,
			},
			want: want{Asked: 2},
		},
		"UnknownButKubernetes": {
			reason: "That one is where it uses the subresource.",
			args:   args{managed: []metav1.ManagedFieldsEntry{entry("kube-controller-manager", update, "apps/v1", "scale", replicas)}, scaling: UnknownAutoscaling},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "kube-controller-manager"}}, Asked: 1},
		},
		"Failed": {
			reason: "Where it cannot be known, nothing is decided.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, contended: []Ceded{inConflict}, scaling: Autoscaled, err: errors.New("later")},
			want:   want{Asked: 1, Err: "later"},
		},
		"Ours": {
			reason: "What the engine owns is not ceded: the API server would remove it.",
			args: args{
				managed: []metav1.ManagedFieldsEntry{entry(us, apply, "apps/v1", "", `{"f:spec":{"f:replicas":{},"f:image":{}}}`), scaled}, contended: []Ceded{inConflict},
			},
		},
		"OtherVersion": {
			reason: "What the engine applied in another version is not of others.",
			args: args{managed: []metav1.ManagedFieldsEntry{
				entry(us, apply, "apps/v1", "", image), entry(us, apply, "apps/v1beta1", "", replicas),
			}, scaling: Autoscaled},
		},
		"Status": {reason: "No other subresource counts.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "status", replicas)}, scaling: Autoscaled}},
		"Unwanted": {
			reason: "What the module does not set is not ceded.",
			args:   args{object: deploy(map[string]any{"image": "a"}), managed: []metav1.ManagedFieldsEntry{scaled}, scaling: Autoscaled},
		},
		"OtherField": {reason: "No other field belongs to others.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "", image)}, scaling: Autoscaled}},
		"Malformed":  {reason: "Fields that cannot be read say nothing.", args: args{managed: []metav1.ManagedFieldsEntry{entry("x", update, "apps/v1", "scale", "{")}}},
		"Injected": {
			reason: "A certificate is ceded where the module has none.",
			args:   args{object: service("Q2c9PQ=="), managed: []metav1.ManagedFieldsEntry{injected}},
			want:   want{Ceded: []Ceded{{Path: bundle, Manager: "cainjector"}}},
		},
		"InjectedNull": {
			reason: "One that the module sets to null is none.",
			args:   args{object: service(nil), managed: []metav1.ManagedFieldsEntry{injected}},
			want:   want{Ceded: []Ceded{{Path: bundle, Manager: "cainjector"}}},
		},
		"Certificate": {reason: "One that the module sets is not.", args: args{object: service(certificate), managed: []metav1.ManagedFieldsEntry{injected}}},
		"OtherKind":   {reason: "Nor is one in any other kind.", args: args{managed: []metav1.ManagedFieldsEntry{injected}}},
		"Contended": {
			reason: "A contended field is ceded.",
			args:   args{contended: []Ceded{inConflict}}, want: want{Ceded: []Ceded{inConflict}},
		},
		"Once": {
			reason: "A field that has a legitimate owner is ceded once.",
			args:   args{managed: []metav1.ManagedFieldsEntry{scaled}, contended: []Ceded{{Path: replicas, Manager: "x", Since: 7}, inConflict}, scaling: Autoscaled},
			want:   want{Ceded: []Ceded{{Path: replicas, Manager: "x"}, inConflict}, Asked: 1},
		},
		"NoPath": {reason: "A path that cannot be read is none.", args: args{contended: []Ceded{{Path: "?", Manager: "x", Since: 7}}}},
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

// A contended field is ceded for an hour, and then due. One that a manager owns legitimately never is.
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
		"None":       {reason: "Without any there is none."},
		"Legitimate": {reason: "A legitimate owner keeps its field.", ceded: []Ceded{legitimate}, after: 2 * retryContended},
		"Before":     {reason: "It stays ceded for an hour.", ceded: []Ceded{legitimate, contended}, after: retryContended - 1, want: []Ceded{contended}},
		"Due":        {reason: "Then it is tried again.", ceded: []Ceded{legitimate, contended}, after: retryContended, due: true},
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
