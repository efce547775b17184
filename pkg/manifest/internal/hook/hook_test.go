// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// aHook returns a hook of a kind with policies.
func aHook(kind, name string, policies ...Policy) Hook {
	h := Hook{Policies: policies, Identity: "id-" + name}
	h.Ref, h.Version = cluster.ObjectRef{Kind: kind, Namespace: "a", Name: name}, "v1"
	switch kind {
	case "Job":
		h.Ref.Group = "batch"
	case object.CRDKind.Kind:
		h.Ref.Group = object.CRDKind.Group
	}
	return h
}

func TestDeletedBy(t *testing.T) {
	all := []Policy{BeforeCreation, Succeeded, Failed}
	cases := map[string]struct {
		reason string
		hook   Hook
		want   []Policy
	}{
		"Default": {reason: "Without a policy, the object is replaced, as in Helm.", hook: aHook("Job", "j"), want: []Policy{BeforeCreation}},
		"Said":    {reason: "A policy replaces the default.", hook: aHook("Job", "j", Failed), want: []Policy{Failed}},
		"Several": {reason: "A hook can have several policies.", hook: aHook("Job", "j", Succeeded, BeforeCreation), want: []Policy{BeforeCreation, Succeeded}},
		"Unknown": {reason: "An unknown policy keeps the object.", hook: aHook("Job", "j", "never")},
		"CRD":     {reason: "No policy deletes a CRD.", hook: aHook(object.CRDKind.Kind, "c", all...)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []Policy
			for _, p := range all {
				if tc.hook.DeletedBy(p) {
					got = append(got, p)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDeletedBy(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDisposable(t *testing.T) {
	hooks := []Hook{
		aHook("Job", "a", Succeeded), aHook("Job", "b", Failed), aHook("Job", "c", Succeeded, Failed), aHook("Job", "d"), aHook("Job", "e", Succeeded),
	}
	cases := map[string]struct {
		reason string
		run    inventory.Run
		want   []string
	}{
		"Succeeded": {reason: "After all hooks have run, their objects are deleted in reverse order.", run: inventory.Run{Index: 5}, want: []string{"e", "c", "a"}},
		"Failed":    {reason: "After a failure, the earlier hooks and the failed one are deleted.", run: inventory.Run{Index: 2, Failed: "no"}, want: []string{"a", "c"}},
		"Own":       {reason: "hook-succeeded does not delete the hook that failed.", run: inventory.Run{Index: 4, Failed: "no"}, want: []string{"a", "c"}},
		"Only":      {reason: "Hooks that did not run have no object.", run: inventory.Run{Index: 1, Failed: "no"}, want: []string{"a", "b"}},
		"Deletion":  {reason: "If the deletion after the last hook failed, all hooks that succeeded are deleted.", run: inventory.Run{Index: 5, Failed: "no"}, want: []string{"a", "c", "e"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, h := range disposable(&tc.run, hooks) {
				got = append(got, h.Ref.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndisposable(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	all := []record.Hook{
		{Name: "late", Weight: 1, Events: []string{"pre-install"}, DeletePolicies: []string{"hook-failed"}, Path: "late.yaml"},
		{Name: "other", Events: []string{"test"}},
		{Name: "early", Events: []string{"pre-install", "pre-upgrade"}, Path: "early.yaml"},
	}
	run := &inventory.Run{ID: "r", Event: inventory.PreInstall}
	build := func(_ context.Context, h *record.Hook, identity string) (object.Desired, error) {
		return object.Desired{Ref: cluster.ObjectRef{Kind: "Job", Name: h.Name}, Part: object.PartID(identity)}, nil
	}
	got, err := Prepare(t.Context(), all, "set", "web", run, nil, build)
	if err != nil {
		t.Fatal(err)
	}
	early, late := run.HookID("set", "web", 0), run.HookID("set", "web", 1)
	want := []Hook{
		{Desired: object.Desired{Ref: cluster.ObjectRef{Kind: "Job", Name: "early"}, Part: object.PartID(early)}, Identity: early},
		{Desired: object.Desired{Ref: cluster.ObjectRef{Kind: "Job", Name: "late"}, Part: object.PartID(late)}, Identity: late, Policies: []Policy{Failed}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Prepare(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Job early", "Job late"}, Names(got)); diff != "" {
		t.Errorf("Names(...): -want, +got:\n%s", diff)
	}
	_, err = Prepare(t.Context(), all, "set", "web", run, nil, func(context.Context, *record.Hook, string) (object.Desired, error) {
		return object.Desired{}, errors.New("no object")
	})
	if err == nil || err.Error() != "hook pre-install of early.yaml: no object" {
		t.Errorf("an error must name the template: %v", err)
	}
}

// TestPrepareChecksOwners verifies that Prepare refuses a hook that would replace an object of another part.
func TestPrepareChecksOwners(t *testing.T) {
	const refused = "hook pre-install Job a is also part of extra; remove it from one of them"
	cases := map[string]struct {
		reason string
		event  inventory.Event
		owner  object.PartID
		want   string
	}{
		"None":  {reason: "The object does not belong to a part.", event: inventory.PreInstall},
		"Own":   {reason: "As in Helm, a chart can turn an object into a hook.", event: inventory.PreInstall, owner: "web"},
		"Other": {reason: "An object of another part is not replaced.", event: inventory.PreInstall, owner: "extra", want: refused},
		"Event": {reason: "Hooks of other events are not checked.", event: inventory.PreUpgrade, owner: "extra"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := []record.Hook{{Name: "a", Events: []string{"pre-install"}}}
			build := func(_ context.Context, h *record.Hook, _ string) (object.Desired, error) {
				return object.Desired{Ref: cluster.ObjectRef{Kind: "Job", Name: h.Name}}, nil
			}
			owner := func(cluster.ObjectRef) (object.PartID, bool) { return tc.owner, tc.owner != "" }
			got := ""
			if _, err := Prepare(t.Context(), all, "set", "web", &inventory.Run{Event: tc.event}, owner, build); err != nil {
				got = err.Error()
				if !ssa.IsRefused(err) {
					t.Errorf("\n%s\nthe error must be about the object: %v", tc.reason, err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPrepare(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOperations(t *testing.T) {
	all := []record.Hook{{Name: "a", Events: []string{"pre-install", "post-upgrade", "pre-upgrade"}}, {Name: "b", Events: []string{"test", "post-delete"}}}
	counts := map[Operation]int{}
	for _, o := range []Operation{Install, Upgrade, Rollback} {
		counts[o] = o.Count(o.Hooks(all))
	}
	if diff := cmp.Diff(map[Operation]int{Install: 1, Upgrade: 2, Rollback: 0}, counts); diff != "" {
		t.Errorf("hooks of each operation: -want, +got:\n%s", diff)
	}
	p, off := inventory.Part{}, inventory.Part{}
	Note(&p, all, false)
	Note(&off, all, true)
	if diff := cmp.Diff([]inventory.Part{{DeleteHooks: true, TestHooks: true}, {TestHooks: true}}, []inventory.Part{p, off}); diff != "" {
		t.Errorf("tests run even where hooks are disabled, as with Helm: -want, +got:\n%s", diff)
	}
}
