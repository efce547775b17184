// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

func TestNext(t *testing.T) {
	type args struct {
		run   inventory.Run
		hooks int
		seen  facts
		late  bool
	}
	created := inventory.Run{Started: 1, UID: "u"}
	cases := map[string]struct {
		reason string
		args   args
		want   action
	}{
		"Over":       {reason: "An event that is over stays over.", args: args{run: inventory.Run{Over: true, Failed: "no"}, hooks: 1}, want: actDone},
		"NoHooks":    {reason: "An event without hooks ends.", want: actDelete},
		"AllRan":     {reason: "After the last hook, the objects are deleted.", args: args{run: inventory.Run{Index: 2, Started: 1}, hooks: 2}, want: actDelete},
		"Failed":     {reason: "After a failure, no further hook runs.", args: args{run: inventory.Run{Index: 1, Started: 1, Failed: "no"}, hooks: 3}, want: actDelete},
		"Turn":       {reason: "The start of a hook is saved before any request.", args: args{hooks: 1}, want: actStart},
		"Create":     {reason: "A hook without a known object is created.", args: args{run: inventory.Run{Started: 1}, hooks: 1}, want: actCreate},
		"CreateLate": {reason: "A hook that was not tried yet is created even after its timeout.", args: args{run: inventory.Run{Started: 1}, hooks: 1, late: true}, want: actCreate},
		"Look":       {reason: "A created hook is read.", args: args{run: created, hooks: 1}, want: actLook},
		"LookLate":   {reason: "A hook may have completed in time, so it is read before it expires.", args: args{run: created, hooks: 1, late: true}, want: actLook},
		"Succeed":    {reason: "When a hook is done, the next one starts.", args: args{run: created, hooks: 1, seen: facts{status: cluster.Current}, late: true}, want: actSucceed},
		"Fail":       {reason: "A failed hook fails the event.", args: args{run: created, hooks: 1, seen: facts{status: cluster.Failed}}, want: actFail},
		"Wait":       {reason: "A running hook is waited for.", args: args{run: created, hooks: 1, seen: facts{status: cluster.InProgress}}, want: actWait},
		"Expire":     {reason: "The wait ends at the timeout.", args: args{run: created, hooks: 1, seen: facts{status: cluster.InProgress}, late: true}, want: actExpire},
		"Blocked":    {reason: "An object that blocks a hook is waited for, too.", args: args{run: inventory.Run{Started: 1}, hooks: 1, seen: facts{status: cluster.InProgress}}, want: actWait},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := next(&tc.args.run, tc.args.hooks, tc.args.seen, tc.args.late)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nnext(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsLate(t *testing.T) {
	cases := map[string]struct {
		reason string
		now    int64
		other  bool
		want   bool
	}{
		"Before": {reason: "The timeout counts from the start.", now: 109},
		"At":     {reason: "The hook expires exactly at the timeout.", now: 110, want: true},
		"After":  {reason: "After the timeout, the hook stays expired.", now: 111, want: true},
		"Other":  {reason: "If another process started it, the timeout begins again.", now: 111, other: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := &Sequence{Run: &inventory.Run{Started: 100, Extended: !tc.other}, Timeout: 10 * time.Second}
			q.Now = func() time.Time { return time.Unix(tc.now, 0) }
			got := q.isLate()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nisLate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	state := func(uid string, status cluster.Status, outcome cluster.Outcome) cluster.ObjectState {
		s := cluster.ObjectState{UID: uid, Status: status, Outcome: outcome}
		if outcome == cluster.OutcomeFailed {
			s.Reason = "failed: no"
		}
		return s
	}
	cases := map[string]struct {
		reason  string
		kind    schema.GroupKind
		state   cluster.ObjectState
		missing bool
		want    facts
	}{
		"Gone":        {reason: "A Job that was deleted after it completed counts as done, as in Helm.", kind: health.JobKind, missing: true, want: facts{status: cluster.Current}},
		"Other":       {reason: "A Job that was replaced counts as done, regardless of the outcome of the new one.", kind: health.JobKind, state: state("x", cluster.Failed, cluster.OutcomeFailed), want: facts{status: cluster.Current}},
		"Succeeded":   {reason: "A Job that succeeded is done.", kind: health.JobKind, state: state("u", cluster.Current, cluster.OutcomeSucceeded), want: facts{status: cluster.Current}},
		"Failed":      {reason: "A failed Pod reports its reason.", kind: health.PodKind, state: state("u", cluster.Failed, cluster.OutcomeFailed), want: facts{status: cluster.Failed, message: "failed: no"}},
		"Running":     {reason: "A Pod without an outcome is running, even if it is ready.", kind: health.PodKind, state: state("u", cluster.Current, cluster.OutcomeNone), want: facts{status: cluster.InProgress, message: "is running"}},
		"Unready":     {reason: "The next hook may be a custom resource of the CRD, so the CRD must be established.", kind: object.CRDKind, state: state("u", cluster.InProgress, cluster.OutcomeNone), want: facts{status: cluster.InProgress, message: "is not established"}},
		"Established": {reason: "The outcome of a CRD is ignored.", kind: object.CRDKind, state: state("u", cluster.Current, cluster.OutcomeFailed), want: facts{status: cluster.Current}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := outcome(tc.kind, "u", tc.state, !tc.missing)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(facts{})); diff != "" {
				t.Errorf("\n%s\noutcome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	const ours = "applyset-1"
	type args struct {
		kind     schema.GroupKind
		policies []Policy
		set      string
		leaving  bool
		adopt    bool
	}
	type want struct {
		action  action
		message string
		// err is the text after the name of the object.
		err string
	}
	job := health.JobKind
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Last":       {reason: "By default, the object of the last run is deleted.", args: args{kind: job, set: ours}, want: want{action: actDelete}},
		"Policy":     {reason: "The object is deleted if its policies include before-hook-creation.", args: args{kind: job, set: ours, policies: []Policy{Succeeded, BeforeCreation}}, want: want{action: actDelete}},
		"Leaves":     {reason: "Any other policy keeps the object, as in Helm.", args: args{kind: job, set: ours, policies: []Policy{Succeeded}}, want: want{action: actFail, message: "already exists, because the delete policy keeps the object; add before-hook-creation to the policy, or delete the object"}},
		"Leaving":    {reason: "An object that is being deleted is waited for, regardless of its policies.", args: args{kind: job, set: ours, leaving: true, policies: []Policy{Failed}}, want: want{action: actWait, message: waitsForDeletion}},
		"CRD":        {reason: "A CRD is never deleted, because its custom resources would be deleted with it.", args: args{kind: object.CRDKind, set: ours}, want: want{action: actFail, message: "already exists, and CRDs are never recreated; remove the CRD from the hooks"}},
		"Foreign":    {reason: "An object of another bundle is not deleted.", args: args{kind: job, set: "other"}, want: want{err: " already exists and does not belong to this module; remove the object, or set adopt"}},
		"Unlabelled": {reason: "An object without the label of a bundle is not deleted.", args: args{kind: job}, want: want{err: " already exists and does not belong to this module; remove the object, or set adopt"}},
		"Adopt":      {reason: "With adopt, the object is replaced.", args: args{kind: job, set: "other", adopt: true}, want: want{action: actDelete}},
		"Namespace":  {reason: "Even with adopt, a namespace of another owner is not deleted.", args: args{kind: schema.GroupKind{Kind: "Namespace"}, set: "other", adopt: true}, want: want{err: " already exists and does not belong to this module; the object is not replaced automatically, because its content would be lost: remove the hook, or delete the object manually"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := &Hook{Policies: tc.args.policies}
			h.Ref = cluster.ObjectRef{Group: tc.args.kind.Group, Kind: tc.args.kind.Kind, Namespace: "a", Name: "h"}
			m := &metav1.PartialObjectMetadata{}
			m.Labels = map[string]string{object.LabelPartOf: tc.args.set}
			if tc.args.leaving {
				m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			var got want
			var err error
			if got.action, got.message, err = replace(h, m, ours, tc.args.adopt, advice.Messages{Adopt: "set adopt"}); err != nil {
				got.err = strings.TrimPrefix(err.Error(), h.Ref.String())
				if !ssa.IsRefused(err) {
					t.Errorf("\n%s\nthe error must be about the object: %v", tc.reason, err)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nreplace(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
