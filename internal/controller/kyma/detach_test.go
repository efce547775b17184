// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// withoutManagement returns a module that is not managed.
func withoutManagement() v1alpha1.Module { return v1alpha1.Module{Name: "a", Managed: new(false)} }

// detaching marks a Manifest whose objects stay in the cluster.
func detaching(m *v1alpha1.Manifest) {
	m.Annotations, m.ResourceVersion = map[string]string{v1alpha1.AnnotationDetach: "true"}, "7"
}

func TestPlanUnmanaged(t *testing.T) {
	type want struct {
		action   action
		state    v1alpha1.State
		reason   string
		version  string
		annotate bool
	}
	regular := newTemplate("a", "regular", "1.0.0")
	templates := []v1alpha1.ModuleTemplate{regular}
	live := func(change ...func(*v1alpha1.Manifest)) *v1alpha1.Manifest {
		return installed(newKyma(), regular, change...)
	}
	known := changed(withoutManagement(), func(k *v1alpha1.Kyma) {
		k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "a", Version: "1.0.0", Channel: "regular"}}
	})
	orphaned := changed(withoutManagement(), func(k *v1alpha1.Kyma) {
		k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	})
	planned := changed(withoutManagement(), func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModePlan })
	cases := map[string]struct {
		reason    string
		kyma      *v1alpha1.Kyma
		templates []v1alpha1.ModuleTemplate
		live      *v1alpha1.Manifest
		want      want
	}{
		"Begin":       {"The Manifest is deleted, and leaves its objects.", changed(withoutManagement()), templates, live(), want{actionDelete, v1alpha1.StateProcessing, "Progressing", "1.0.0", true}},
		"NoTemplate":  {"The ModuleTemplate does not matter.", changed(withoutManagement()), nil, live(), want{actionDelete, v1alpha1.StateProcessing, "Progressing", "1.0.0", true}},
		"Policies":    {"Policies that forbid deletions would leave the labels.", orphaned, templates, live(), want{actionDelete, v1alpha1.StateProcessing, "Progressing", "1.0.0", true}},
		"Interrupted": {"A Manifest that was annotated, and not deleted, is deleted.", changed(withoutManagement()), templates, live(detaching), want{actionDelete, v1alpha1.StateProcessing, "Progressing", "1.0.0", true}},
		"Waiting":     {"A Manifest that is being deleted is waited for.", changed(withoutManagement()), templates, live(detaching, deleted), want{actionNone, v1alpha1.StateProcessing, "Progressing", "1.0.0", false}},
		"Removing":    {"A removal that has begun continues.", changed(withoutManagement()), templates, live(deleted), want{actionNone, v1alpha1.StateDeleting, "Deleting", "1.0.0", false}},
		"Done":        {"Without a Manifest, nothing is left to do, and the module does not keep the Kyma from being Ready.", known, templates, nil, want{actionNone, v1alpha1.StateReady, "Unmanaged", "1.0.0", false}},
		"Never":       {"A module that was never installed is not installed.", changed(withoutManagement()), templates, nil, want{actionNone, v1alpha1.StateReady, "Unmanaged", "", false}},
		"Planned":     {"A plan changes nothing but the mode.", planned, templates, live(), want{actionPropagate, v1alpha1.StateProcessing, "Planned", "1.0.0", false}},
		"Again":       {"A module that is managed again gets a Manifest.", changed(v1alpha1.Module{Managed: new(true)}), templates, nil, want{actionCreate, v1alpha1.StateProcessing, "Progressing", "1.0.0", false}},
		"AgainAtOnce": {"If the deletion has not begun, the annotation is removed.", changed(v1alpha1.Module{}), templates, live(detaching), want{actionPropagate, v1alpha1.StateReady, "Available", "1.0.0", false}},
		"Disabled":    {"A module that the Kyma no longer has is detached if that had begun.", newKyma(), templates, live(detaching), want{actionDelete, v1alpha1.StateProcessing, "Progressing", "1.0.0", true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(tc.kyma, tc.templates)
			if tc.live != nil {
				p = newPlanner(tc.kyma, tc.templates, tc.live)
			}
			s := p.plan()[0]
			got := want{s.action, s.status.State, s.status.Reason, s.status.Version, s.desired != nil && isDetached(s.desired)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nplan(): -want, +got:\n%s", tc.reason, diff)
			}
			if again := tc.live != nil && isDetached(tc.live) && s.desired != nil && !got.annotate; again && s.desired.ResourceVersion != tc.live.ResourceVersion {
				t.Errorf("%s\nplan(): want a write that fails if the deletion has begun", tc.reason)
			}
			if got.annotate && !slices.Equal(s.desired.Spec.ManagementPolicies, xpv2.ManagementPolicies{xpv2.ManagementActionAll}) {
				t.Errorf("%s\nplan(): want all policies, got %v", tc.reason, s.desired.Spec.ManagementPolicies)
			}
		})
	}
}

// TestMandatoryIsManaged checks that the owner of a Kyma cannot stop managing a mandatory module, and that the status says so.
func TestMandatoryIsManaged(t *testing.T) {
	regular := newTemplate("a", "regular", "1.0.0")
	p := newPlanner(changed(withoutManagement()), []v1alpha1.ModuleTemplate{regular}, installed(newKyma(), regular))
	p.mandatory = map[string]bool{"a": true}
	s := p.plan()[0]
	if s.action != actionNone || s.status.State != v1alpha1.StateWarning || !strings.Contains(s.status.Message, "managed are ignored") {
		t.Errorf("want a warning and no action, got %s, %s: %s", s.action, s.status.State, s.status.Message)
	}
}

// TestDetachedIsKept checks that the annotation of a Manifest stays once its deletion has begun, and when its Kyma is deleted: without it,
// the objects would be deleted.
func TestDetachedIsKept(t *testing.T) {
	gone := newKyma()
	gone.DeletionTimestamp = installed(gone, newTemplate("a", "regular", "1.0.0"), deleted).DeletionTimestamp
	for _, k := range []*v1alpha1.Kyma{newKyma(), gone} {
		for _, change := range []func(*v1alpha1.Manifest){func(*v1alpha1.Manifest) {}, deleted} {
			m := installed(k, newTemplate("a", "regular", "1.0.0"), detaching, change)
			if desired := desiredManifest(k, intentOf(k, policyOf(k)), nil, m); !isDetached(desired) {
				t.Errorf("want the annotation, got %v", desired.Annotations)
			}
		}
	}
}

// TestUpdateDetaches checks that the annotation is written before the Manifest is deleted, and that an event reports it.
func TestUpdateDetaches(t *testing.T) {
	s, r := &server{allowed: true}, newRecorder()
	k := changed(withoutManagement())
	e := newExternal(s, r, nil, nil, installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
	if _, err := e.Observe(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apply k-a", "ask", "delete k-a"}, slices.DeleteFunc(s.writes, func(w string) bool { return w == "patch k" })); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
	if !isDetached(s.patched[0]) || !strings.Contains(strings.Join(*r.messages, "\n"), "No longer managing module a, version 1.0.0") {
		t.Errorf("want the annotation and an event, got %v, %q", s.patched[0].Annotations, *r.messages)
	}
}

// TestDeleteDetaches checks that the objects of a module that is not managed stay in the cluster, although its Kyma is deleted before the Manifest
// was detached.
func TestDeleteDetaches(t *testing.T) {
	now := metav1.Now()
	detach := []string{"apply k-a", "ask", "delete k-a"}
	cases := map[string]struct {
		reason string
		kyma   *v1alpha1.Kyma
		want   []string
	}{
		"Managed":   {reason: "The objects of a module that is managed are removed.", kyma: changed(v1alpha1.Module{}), want: []string{"ask", "delete k-a"}},
		"Unmanaged": {reason: "The annotation is written before the deletion.", kyma: changed(withoutManagement()), want: detach},
		"Mandatory": {
			reason: "A mandatory module is managed in any case.", want: []string{"ask", "delete k-a"},
			kyma: changed(withoutManagement(), func(k *v1alpha1.Kyma) {
				k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "a", Origin: v1alpha1.ModuleOriginMandatory}}
			}),
		},
		"Disabled": {reason: "The objects of a module that the Kyma does not have are removed.", kyma: newKyma(), want: []string{"ask", "delete k-a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &server{allowed: true}
			tc.kyma.DeletionTimestamp = &now
			e := newExternal(s, newRecorder(), nil, nil, installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
			if _, err := e.Observe(t.Context(), tc.kyma); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Delete(t.Context(), tc.kyma); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.writes); diff != "" {
				t.Errorf("\n%s\nwrites: -want, +got:\n%s", tc.reason, diff)
			}
			if len(s.patched) > 0 && !isDetached(s.patched[0]) {
				t.Errorf("\n%s\nwant the annotation, got %v", tc.reason, s.patched[0].Annotations)
			}
		})
	}
}
