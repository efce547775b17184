// SPDX-License-Identifier: Apache-2.0

package detach

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	ourSet  = "applyset-ours"
	manager = "engine"
)

func identity() Identity {
	return Identity{Set: ourSet, Labels: []string{object.LabelPartOf, object.LabelManagedBy, "team"}, FieldManager: manager}
}

// metadataOf returns the metadata of the applied object, after changes.
func metadataOf(change ...func(m *metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: "1", ResourceVersion: "7",
		Labels:        map[string]string{object.LabelPartOf: ourSet, object.LabelManagedBy: "engine", "team": "a", "app": "web"},
		Annotations:   map[string]string{"example.org/a": "b"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager, Operation: "Apply"}, {Manager: "kubectl", Operation: "Update"}},
	}}
	for _, f := range change {
		f(m)
	}
	return m
}

func label(key, value string) func(m *metav1.PartialObjectMetadata) {
	return func(m *metav1.PartialObjectMetadata) { m.Labels[key] = value }
}

func annotate(key, value string) func(m *metav1.PartialObjectMetadata) {
	return func(m *metav1.PartialObjectMetadata) { m.Annotations[key] = value }
}

func unmarked(m *metav1.PartialObjectMetadata) {
	m.Labels, m.ManagedFields = map[string]string{"app": "web"}, m.ManagedFields[1:]
}

func recreated(m *metav1.PartialObjectMetadata) { m.UID = "2" }

func used(by string) func(m *metav1.PartialObjectMetadata) { return annotate(object.UsedBy(by), by) }

func TestDecide(t *testing.T) {
	applied, sent, use := inventory.Entry{UID: "1"}, inventory.Entry{}, inventory.Entry{UID: "1", Use: &inventory.Use{}}
	cases := map[string]struct {
		reason string
		entry  inventory.Entry
		object *metav1.PartialObjectMetadata
		want   Action
	}{
		"Gone":         {"An object that does not exist needs nothing.", applied, nil, None},
		"Member":       {"An object of the bundle is detached.", applied, metadataOf(), Detach},
		"Detached":     {"A detached object is not changed again.", applied, metadataOf(unmarked), None},
		"NoPartOf":     {"A user may have removed one of the labels.", applied, metadataOf(label(object.LabelPartOf, "")), Detach},
		"OnlyFields":   {"The ownership of fields is removed too.", applied, metadataOf(func(m *metav1.PartialObjectMetadata) { m.Labels = nil }), Detach},
		"Kept":         {"An annotation of an earlier version is removed.", applied, metadataOf(unmarked, annotate(object.AnnotationKeptBy, ourSet)), Detach},
		"KeptByOther":  {"An annotation of another bundle is not.", applied, metadataOf(unmarked, annotate(object.AnnotationKeptBy, "applyset-other")), None},
		"OfAnother":    {"An object that another bundle owns now stays as it is.", applied, metadataOf(label(object.LabelPartOf, "applyset-other")), None},
		"Recreated":    {"An object of another client with the same name stays as it is.", applied, metadataOf(recreated, label(object.LabelPartOf, "")), None},
		"OurOwn":       {"An object that the engine recreated is detached.", applied, metadataOf(recreated), Detach},
		"Unanswered":   {"An object whose creation was not recorded is detached because of its label.", sent, metadataOf(), Detach},
		"NeverCreated": {"Without the label, another client created it.", sent, metadataOf(label(object.LabelPartOf, "")), None},
		"Used":         {"A CRD of another owner keeps its mark.", use, metadataOf(unmarked, used(ourSet)), None},
		"Users":        {"A CRD that others use is marked before it is handed over.", applied, metadataOf(used("other")), Mark},
		"Marked":       {"Then it is handed over.", applied, metadataOf(used("other"), used(ourSet)), HandOver},
		"HandedOver":   {"A CRD that was handed over is not changed again.", applied, metadataOf(label(object.LabelPartOf, ""), used("other"), annotate(object.AnnotationHandedOver, ourSet)), None},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Decide(&tc.entry, tc.object, identity()); got != tc.want {
				t.Errorf("%s\nDecide(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestPatchOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		action Action
		object *metav1.PartialObjectMetadata
		want   string
	}{
		"Detach": {
			"Only what the engine set is removed.", Detach, metadataOf(annotate(object.AnnotationAdopted, ourSet)),
			`{"annotations":{"kyma.m.crossplane.io/adopted":null},"labels":{"applyset.kubernetes.io/part-of":null,"operator.kyma-project.io/managed-by":null,"team":null},` +
				`"managedFields":[{"manager":"kubectl","operation":"Update"}],"resourceVersion":"7","uid":"1"}`,
		},
		"OnlyManager": {
			"An empty list of managers would change nothing.", Detach,
			metadataOf(func(m *metav1.PartialObjectMetadata) { m.Labels, m.ManagedFields = nil, m.ManagedFields[:1] }),
			`{"managedFields":[{}],"resourceVersion":"7","uid":"1"}`,
		},
		"HandOver": {
			"The watches of other bundles still find a CRD that is handed over.", HandOver, metadataOf(),
			`{"annotations":{"kyma.m.crossplane.io/handed-over":"applyset-ours","kyma.m.crossplane.io/kept-by":"applyset-ours"},` +
				`"labels":{"applyset.kubernetes.io/part-of":null,"team":null},"managedFields":[{"manager":"kubectl","operation":"Update"}],"resourceVersion":"7","uid":"1"}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(patchOf(tc.action, tc.object, identity()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s\npatchOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
