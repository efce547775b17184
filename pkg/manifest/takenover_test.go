// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// TestTakenOver checks that an object that another bundle adopted is reported as such with each drift policy, that it prevents
// the bundle from being Ready, and that repairs, upgrades of other objects, pruning and removal do not change it.
func TestTakenOver(t *testing.T) {
	config := key("ConfigMap", "apps", "web")
	for _, policy := range []DriftPolicy{DriftRepair, DriftReport, DriftIgnore} {
		t.Run(string(policy), func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", webTemplates...))
			s.Drift, s.Adopt = policy, true
			b.reconcile(s)
			other := bundleOf(Install{Name: "plain", Form: FormPlain, Namespace: "apps", Layer: layerOf([]source.File{{Name: "a.yaml", Data: []byte(configMap("web"))}})})
			other.Name, other.Owner, other.Adopt = "team-b-web", "Manifest team-b/web", true
			b.reconcile(other)
			part := func() string {
				b.s.mu.Lock()
				defer b.s.mu.Unlock()
				u := b.s.objects[config].u()
				return u.GetLabels()[object.LabelPartOf] + " " + u.GetResourceVersion()
			}
			theirs := part()
			if !strings.HasPrefix(theirs, b.ID(other)) {
				t.Fatalf("the object is of %s", theirs)
			}
			left := func(when string) {
				t.Helper()
				if diff := cmp.Diff(theirs, part()); diff != "" {
					t.Errorf("%s: the object of the other bundle: -want, +got:\n%s", when, diff)
				}
			}
			taken := func(when string, upToDate bool) {
				t.Helper()
				o := b.observe(s)
				want := []Drift{{Key: config, Kind: DriftTakenOver, Owner: "Manifest team-b/web"}}
				if diff := cmp.Diff(want, o.Drift); diff != "" || o.State != Warning || o.Works || o.UpToDate != upToDate {
					t.Errorf("%s: State %s, works %t, up to date %t: -want, +got:\n%s", when, o.State, o.Works, o.UpToDate, diff)
				}
				if wantText := "ConfigMap apps/web belongs to Manifest team-b/web; remove the object from one of the two modules"; !strings.Contains(o.Message, wantText) {
					t.Errorf("%s: message %q", when, o.Message)
				}
			}
			taken("at first", true)
			b.s.took()
			taken("again", true)
			if got := b.s.took(); len(got) > 0 {
				t.Errorf("the name of the owner is known: %v", got)
			}
			b.restart()
			taken("after a restart", true)
			b.s.took()
			for range 3 {
				if r := b.apply(s); len(r.Repaired) > 0 {
					t.Errorf("Apply(...): %+v", r)
				}
			}
			if got := slices.DeleteFunc(b.s.took(), func(r string) bool { return strings.HasPrefix(r, "get") || strings.HasPrefix(r, "list") }); len(got) > 0 {
				t.Errorf("requests without a change: %v", got)
			}
			left("after applying")

			if policy == DriftRepair {
				b.s.drop(key("ServiceAccount", "apps", "web"))
				b.apply(s)
				if b.s.uidOf(key("ServiceAccount", "apps", "web")) == "" {
					t.Error("another object is not repaired")
				}
				left("after a repair")
			}
			var behind []LeftBehind
			for range 10 {
				r := b.take(s)
				if behind = append(behind, r.LeftBehind...); r.Gone {
					break
				}
			}
			if diff := cmp.Diff([]LeftBehind{{Object: config, Reason: "belongs to Manifest team-b/web"}}, behind); diff != "" {
				t.Errorf("what the removal left behind: -want, +got:\n%s", diff)
			}
			left("after the removal")
			if o := b.observe(other); o.State != Ready || !o.UpToDate {
				t.Errorf("the other bundle: %+v", o)
			}
		})
	}
}

// TestTakenOverReturns checks that an object is repaired once the other bundle no longer contains it.
func TestTakenOverReturns(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	other := bundleOf(Install{Name: "plain", Form: FormPlain, Namespace: "apps", Layer: layerOf([]source.File{{Name: "a.yaml", Data: []byte(configMap("web"))}})})
	other.Name, other.Owner, other.Adopt = "team-b-web", "Manifest team-b/web", true
	b.reconcile(other)
	if o := b.observe(s); o.State != Warning {
		t.Errorf("want a Warning, got %+v", o)
	}
	b.takeAll(other)
	b.reconcile(s)
	if o := b.observe(s); o.State != Ready || !o.UpToDate {
		t.Errorf("want Ready, got %+v", o)
	}
	b.takeAll(s)
}
