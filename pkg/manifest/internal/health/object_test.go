// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const plainCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
`

// fromYAML returns an object as an API server would decode it.
func fromYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(b, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestStateOf(t *testing.T) {
	const deploy = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, generation: 1}\nspec: {replicas: 2}\nstatus: "
	cases := map[string]struct {
		reason string
		object string
		status cluster.Status
		text   string
	}{
		"Available": {
			reason: "All replicas are available.",
			object: deploy + "{observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}",
			status: cluster.Current,
		},
		"NotAvailable": {
			reason: "Missing replicas are reported as kubectl does.",
			object: deploy + "{observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1, conditions: [{type: Progressing, status: 'True', reason: ReplicaSetUpdated}]}",
			status: cluster.InProgress, text: "1 of 2 replicas available",
		},
		"New": {reason: "No controller has processed it yet.", object: deploy + "{}", status: cluster.InProgress, text: "0 of 2 replicas available"},
		"Quota": {
			reason: "The message says why there are no pods.",
			object: deploy + "{observedGeneration: 1, conditions: [{type: ReplicaFailure, status: 'True', message: \"pods is forbidden:\\n quota\"}]}",
			status: cluster.InProgress, text: "0 of 2 replicas available: pods is forbidden: quota",
		},
		"Stuck": {
			reason: "An exceeded deadline is a failure.",
			object: deploy + "{observedGeneration: 1, replicas: 2, updatedReplicas: 1, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: it has timed out}]}",
			status: cluster.Failed, text: "0 of 2 replicas available: it has timed out",
		},
		"StatefulSet": {
			reason: "The replicas of a StatefulSet are counted by readiness.",
			object: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a, generation: 1}\nspec: {replicas: 3}\nstatus: {observedGeneration: 1, replicas: 3, readyReplicas: 1, currentReplicas: 3}",
			status: cluster.InProgress, text: "1 of 3 replicas available",
		},
		"Job": {
			reason: "A Job may fail permanently.",
			object: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {}\nstatus: {failed: 1, startTime: x, conditions: [{type: Failed, status: 'True', message: BackoffLimitExceeded}]}",
			status: cluster.Failed, text: "Job Failed. failed: 1/1",
		},
		"CRD": {
			reason: "A CRD is not ready until it is established.",
			object: plainCRD, status: cluster.InProgress, text: "Install in progress",
		},
		"LoadBalancer": {
			reason: "For kstatus, a Service needs an address inside the cluster only.",
			object: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: LoadBalancer}",
			status: cluster.InProgress, text: "ClusterIP not set. Service type: LoadBalancer",
		},
		"Claim": {
			reason: "A claim needs a volume.",
			object: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nstatus: {phase: Pending}",
			status: cluster.InProgress, text: "PVC is not Bound. phase: Pending",
		},
		"Terminating": {
			reason: "The message of an object that is being deleted names its finalizers.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a/b, c/d]}",
			status: cluster.Terminating, text: "is being deleted, waiting for finalizer a/b, c/d",
		},
		"Statusless": {
			reason: "An object of a kind without status is ready, whatever it contains.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nstatus: {conditions: [{type: Ready, status: 'False'}]}",
			status: cluster.Current,
		},
		"Custom": {
			reason: "Condition Ready counts for any kind.",
			object: "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\nstatus: {conditions: [{type: Ready, status: 'False', message: not yet}]}",
			status: cluster.InProgress, text: "not yet",
		},
		"Unreadable": {
			reason: "A malformed status does not cause a panic.",
			object: deploy + "{conditions: 7}", status: cluster.InProgress, text: "cannot evaluate the status",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := StateOf("engine", fromYAML(t, tc.object))
			if got.Status != tc.status {
				t.Errorf("\n%s\nstatus: want %s, got %s", tc.reason, tc.status, got.Status)
			}
			if tc.text != got.Message && (name != "Unreadable" || len(got.Message) <= len(tc.text) || got.Message[:len(tc.text)] != tc.text) {
				t.Errorf("\n%s\nmessage: want %q, got %q", tc.reason, tc.text, got.Message)
			}
		})
	}
}

func TestMetadataStateOf(t *testing.T) {
	m := &metav1.PartialObjectMetadata{}
	m.UID, m.ResourceVersion, m.Labels = "u", "7", map[string]string{object.LabelPartOf: "set"}
	now := metav1.Now()
	want := cluster.ObjectState{UID: "u", ResourceVersion: "7", Set: "set", Status: cluster.Current}
	if diff := cmp.Diff(want, MetadataStateOf("engine", m)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	m.Labels, m.DeletionTimestamp = map[string]string{object.LabelApplySetID: "parent"}, &now
	want.Set, want.Status, want.Message = "parent", cluster.Terminating, "is being deleted"
	if diff := cmp.Diff(want, MetadataStateOf("engine", m)); diff != "" {
		t.Errorf("of a parent: -want, +got:\n%s", diff)
	}
	other := want
	other.ResourceVersion = "8"
	if !want.Same(other) || want.Same(cluster.ObjectState{}) {
		t.Error("only the resource version may differ")
	}
}

// TestStateIsBounded checks that long texts from a cluster don't make a state large.
func TestStateIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	pod := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "reason": long, "message": long}}},
	}
	gone := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}, Finalizers: []string{long}}}
	leaving := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
		"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": []any{long},
	}}}
	for name, s := range map[string]cluster.ObjectState{
		"Failed":      StateOf("m", &unstructured.Unstructured{Object: pod}),
		"Terminating": StateOf("m", leaving),
		"Metadata":    MetadataStateOf("m", gone),
	} {
		if s.Message == "" || len(s.Message) > 256 || len(s.Reason) > 256 {
			t.Errorf("%s: the message has %d bytes and the reason %d, want 1 to 256 and at most 256", name, len(s.Message), len(s.Reason))
		}
	}
}

func TestNeedsStatus(t *testing.T) {
	for gk, want := range map[schema.GroupKind]bool{
		{Kind: "Secret"}: false, {Kind: "Pod"}: true, {Group: "apps", Kind: "Deployment"}: true, {Group: "example.org", Kind: "Secret"}: true,
	} {
		if got := NeedsStatus(gk); got != want {
			t.Errorf("%s: want %v, got %v", gk, want, got)
		}
	}
}

// TestContent checks that each field counts but those of the metadata, and that a state does not cost its hash.
func TestContent(t *testing.T) {
	object := func(version, field string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "resourceVersion": version},
			"status": map[string]any{"beat": field},
		}}
	}
	if Content(object("1", "a")) == Content(object("1", "b")) {
		t.Error("want a hash that changes with any field")
	}
	if Content(object("1", "a")) != Content(object("2", "a")) {
		t.Error("want a hash that does not change with the metadata")
	}
	if s := StateOf("engine", object("1", "a")); s.Content != [6]byte{} {
		t.Errorf("want a state without a hash, got %x", s.Content)
	}
}
