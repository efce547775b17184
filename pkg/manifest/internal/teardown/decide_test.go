// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	ours  = "applyset-ours-v1"
	other = "applyset-other-v1"
)

func TestDecide(t *testing.T) {
	applied, planned := inventory.Entry{UID: "1"}, inventory.Entry{}
	member := &cluster.ObjectState{UID: "1", Set: ours, Status: cluster.Current}
	type args struct {
		e inventory.Entry
		f Facts
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Decision
	}{
		"Done": {
			reason: "An object that this call orphaned needs no action, whatever the watch shows.",
			args:   args{e: applied, f: Facts{Pass: Deleting, Known: Done, State: member}}, want: Gone,
		},
		"Denied": {
			reason: "An applied object that may not be read may still exist.",
			args:   args{e: applied, f: Facts{Known: Denied}}, want: Refuse,
		},
		"DeniedAndNeverApplied": {
			reason: "Credentials that may not read an object have not created it.",
			args:   args{e: planned, f: Facts{Known: Denied}}, want: Gone,
		},
		"Member":      {reason: "A member is deleted.", args: args{e: applied, f: Facts{Pass: Deleting, State: member}}, want: Delete},
		"Replacement": {reason: "Another object with the label is a member.", args: args{e: applied, f: Facts{Pass: Deleting, State: &cluster.ObjectState{UID: "2", Set: ours}}}, want: Delete},
		"Terminating": {
			reason: "An object that is being deleted is not deleted again.",
			args:   args{e: applied, f: Facts{Pass: Deleting, State: &cluster.ObjectState{Set: ours, Status: cluster.Terminating}}}, want: Wait,
		},
		"KeepEntry": {
			reason: "An object that was applied with the keep policy is orphaned.",
			args:   args{e: inventory.Entry{UID: "1", Keep: true}, f: Facts{Pass: Orphaning, State: member}}, want: Orphan,
		},
		"KeepObject": {
			reason: "An object that received the keep policy later is orphaned, even while it is being deleted.",
			args:   args{e: applied, f: Facts{Pass: Orphaning, State: &cluster.ObjectState{Set: ours, Keep: true, Status: cluster.Terminating}}}, want: Orphan,
		},
		"KeepTooLate": {
			reason: "Once deletion has begun, it is too late to keep the objects that an orphan needs.",
			args:   args{e: applied, f: Facts{Pass: Deleting, State: &cluster.ObjectState{Set: ours, Keep: true}}}, want: Delete,
		},
		"WithoutLabel": {
			reason: "Watches do not show an object without its label.",
			args:   args{e: applied, f: Facts{}}, want: Confirm,
		},
		"OtherBundle": {
			reason: "The watch may lag behind a bundle that handed the object back.",
			args:   args{e: applied, f: Facts{State: &cluster.ObjectState{UID: "1", Set: other}}}, want: Confirm,
		},
		"AskedOtherBundle": {
			reason: "The state of a kind that cannot be watched does not contain who orphaned the object.",
			args:   args{e: applied, f: Facts{Known: Asked, State: &cluster.ObjectState{UID: "1"}}}, want: Confirm,
		},
		"AskedAndGone": {
			reason: "A request that did not find the object is not repeated.",
			args:   args{e: applied, f: Facts{Known: Asked}}, want: Gone,
		},
		"Remembered": {
			reason: "A request of an earlier call that did not find the object is not repeated.",
			args:   args{e: applied, f: Facts{Known: Remembered}}, want: Gone,
		},
		"RememberedOther": {
			reason: "An object that was found not to be a member is not deleted.",
			args:   args{e: applied, f: Facts{Known: Remembered, State: &cluster.ObjectState{Set: other}}}, want: NotOurs,
		},
		"GoneMeanwhile": {
			reason: "An object that was a member when the removal began, and that the watch no longer shows, is gone.",
			args:   args{e: applied, f: Facts{Pass: Deleting}}, want: Gone,
		},
		"NotOursMeanwhile": {
			reason: "An object that the watch no longer shows as a member, although no request was made since, may be one without its label.",
			args:   args{e: applied, f: Facts{Pass: Deleting, State: &cluster.ObjectState{UID: "1"}}}, want: Confirm,
		},
		"NeverApplied": {
			reason: "An object may have been created although no response arrived.",
			args:   args{e: planned, f: Facts{Pass: Deleting}}, want: Ask,
		},
		"NeverAppliedAndOther": {
			reason: "An object of another owner has the name.",
			args:   args{e: planned, f: Facts{Pass: Deleting, State: &cluster.ObjectState{Set: other}}}, want: NotOurs,
		},
		"NeverCreated": {
			reason: "The response counts.",
			args:   args{e: planned, f: Facts{Pass: Deleting, Known: Asked}}, want: Gone,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Decide(&tc.args.e, tc.args.f, ours)); diff != "" {
				t.Errorf("\n%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	meta := func(uid, set, keptBy string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}}
		if set != "" {
			m.Labels = map[string]string{object.LabelPartOf: set}
		}
		if keptBy != "" {
			m.Annotations = map[string]string{object.AnnotationKeptBy: keptBy}
		}
		return m
	}
	managed := func(m *metav1.PartialObjectMetadata, annotations ...string) *metav1.PartialObjectMetadata {
		m.Labels = map[string]string{object.LabelManagedBy: object.DefaultManagedBy}
		for _, a := range annotations {
			m.Annotations[a] = ours
		}
		return m
	}
	cases := map[string]struct {
		reason string
		found  *metav1.PartialObjectMetadata
		want   Finding
	}{
		"Absent":      {reason: "The object does not exist.", want: Absent},
		"Label":       {reason: "An object with the label is a member, whatever its UID.", found: meta("2", ours, ""), want: Member},
		"NoLabel":     {reason: "The applied object is a member even without the label.", found: meta("1", "", ""), want: Member},
		"OtherBundle": {reason: "Another bundle owns the object now.", found: meta("1", other, ""), want: Foreign},
		"Orphaned":    {reason: "The ApplySet orphaned the object earlier. It is not reported again.", found: meta("1", "", ours), want: Orphaned},
		"AppliedAgain": {
			reason: "The ApplySet orphaned the object and applied it again, and another client removed one of its labels.",
			found:  managed(meta("1", "", ours)), want: Member,
		},
		"HandedOver": {
			reason: "A CRD that the ApplySet handed over keeps the label by which the watches of its users select it.",
			found:  managed(meta("1", "", ours), object.AnnotationHandedOver), want: Orphaned,
		},
		"OrphanOfOther": {reason: "Another bundle orphaned the object.", found: meta("1", "", other), want: Foreign},
		"Replaced":      {reason: "An object with another UID is not the applied one.", found: meta("2", "", ""), want: Foreign},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Identify(&inventory.Entry{UID: "1"}, tc.found, ours)); diff != "" {
				t.Errorf("\n%s\nIdentify(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWhyForeign(t *testing.T) {
	cases := map[string]struct {
		reason     string
		uid, label string
		owner      string
		want       string
	}{
		"Owner":     {reason: "The owner is named, whatever the UID.", uid: "2", label: other, owner: "Manifest b/web", want: "belongs to Manifest b/web"},
		"OtherSet":  {reason: "The ID is named if the owner is unknown.", uid: "1", label: other, want: "belongs to another owner, label applyset.kubernetes.io/part-of: " + other},
		"Recreated": {reason: "Another object has its name.", uid: "2", want: "recreated by another client"},
		"Kept":      {reason: "Another owner orphaned the applied object.", uid: "1", want: "has no label applyset.kubernetes.io/part-of, and is kept by another owner"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(tc.uid)}}
			if tc.label != "" {
				m.Labels = map[string]string{object.LabelPartOf: tc.label}
			}
			if diff := cmp.Diff(tc.want, whyForeign(&inventory.Entry{UID: "1"}, m, tc.owner)); diff != "" {
				t.Errorf("\n%s\nwhyForeign(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
