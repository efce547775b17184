// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	oneSize  = `{type: object, properties: {size: {type: integer}}}`
	twoSizes = `{type: object, properties: {size: {type: integer}, mode: {type: string}}}`
	textSize = `{type: object, properties: {size: {type: string}}}`
)

var widgetsCRD = key("CustomResourceDefinition", "", "widgets.example.org")

// webOf and gatewayOf return two bundles with the same CRD.
func webOf(spec string, versions ...string) *Bundle {
	return bundleOf(install("web", "crds/"+crdWith(spec, versions...), configMap("web")))
}

func gatewayOf(spec string, versions ...string) *Bundle {
	b := bundleOf(install("gw", "crds/"+crdWith(spec, versions...), configMap("gw")))
	b.Name, b.Owner, b.Labels = "team-b-gw", "Manifest team-b/gw", map[string]string{"team": "b"}
	return b
}

// shared describes the CRD: whose it is, and who uses it.
type shared struct {
	Owner, HandedOver string
	Users             []string
	// Labelled is true if the watch shows it.
	Labelled bool
}

// shared returns nil if the CRD does not exist.
func (b *bench) shared() *shared {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	o := b.s.objects[widgetsCRD]
	if o == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: o.content}
	names := map[string]string{"": "", b.ID(webOf(oneSize)): "web", b.ID(gatewayOf(oneSize)): "gw"}
	return &shared{
		Owner: names[u.GetLabels()[object.LabelPartOf]], HandedOver: names[u.GetAnnotations()[object.AnnotationHandedOver]],
		Users: object.UsersOf(u.GetAnnotations(), ""), Labelled: u.GetLabels()[object.LabelManagedBy] == object.DefaultManagedBy,
	}
}

func (b *bench) wantShared(when string, want *shared) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.shared()); diff != "" {
		b.t.Errorf("%s: the CRD: -want, +got:\n%s", when, diff)
	}
}

func (b *bench) wantReady(when string, s *Bundle) {
	b.t.Helper()
	if o := b.observe(s); o.State != Ready || !o.UpToDate {
		b.t.Errorf("%s: %s is %s, up to date %t: %s", when, s.Name, o.State, o.UpToDate, o.Message)
	}
}

// custom creates a custom resource of the CRD, as a user of the modules does.
func (b *bench) custom() func(when string, want bool) {
	b.t.Helper()
	ref := b.s.put(widgetNamed(b.t, "mine"))
	uid := b.s.uidOf(ref)
	return func(when string, want bool) {
		b.t.Helper()
		if got := b.s.uidOf(ref); (got == uid) != want {
			b.t.Errorf("%s: the custom resource has the UID %q, before %q, want it to stay: %t", when, got, uid, want)
		}
	}
}

const byGateway = "Manifest team-b/gw"

// TestSharedCRD checks the life of a CRD that two bundles have: the second one uses that of the first one, whatever its policies are.
// When the first one goes, the second one becomes its owner, and custom resources survive.
func TestSharedCRD(t *testing.T) {
	cases := map[string]func(s *Bundle){
		"Repair": func(*Bundle) {},
		"Report": func(s *Bundle) { s.Drift = DriftReport },
		"Ignore": func(s *Bundle) { s.Drift = DriftIgnore },
		"Adopt":  func(s *Bundle) { s.Adopt = true },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			first, second := webOf(oneSize), gatewayOf(oneSize)
			change(first)
			change(second)
			b.reconcile(first)
			var used []string
			for range 3 {
				r := b.apply(second)
				for _, u := range r.Shared {
					used = append(used, u.String())
				}
				if r.ChangedCRDs {
					t.Error("the second one changes the CRD")
				}
			}
			if diff := cmp.Diff([]string{"CustomResourceDefinition widgets.example.org already exists, belongs to Manifest team-a/web, and is used as is"}, used); diff != "" {
				t.Errorf("used: -want, +got:\n%s", diff)
			}
			b.wantShared("installed", &shared{Owner: "web", Users: []string{byGateway}, Labelled: true})
			b.wantReady("installed", first)
			b.wantReady("installed", second)
			if o := b.observe(second); !o.SharesCRDs || o.Total != 2 || len(o.Drift) > 0 {
				t.Errorf("observation: %+v", o)
			}
			b.s.took()
			b.restart()
			b.wantReady("after a restart", second)
			b.apply(second)
			for _, r := range b.s.took() {
				if strings.Contains(r, "CustomResourceDefinition") || strings.HasPrefix(r, "patch") {
					t.Errorf("at rest: %s", r)
				}
			}

			survives := b.custom()
			var handed []string
			for range 5 {
				r := b.take(first)
				for _, h := range r.HandedOver {
					handed = append(handed, h.String())
				}
				if r.Gone {
					break
				}
			}
			if diff := cmp.Diff([]string{"CustomResourceDefinition widgets.example.org (Manifest team-b/gw)"}, handed); diff != "" {
				t.Errorf("handed over: -want, +got:\n%s", diff)
			}
			survives("the first one is gone", true)
			b.wantShared("the first one is gone", &shared{HandedOver: "web", Users: []string{byGateway}, Labelled: true})
			if o := b.observe(second); o.UpToDate {
				t.Error("the second one has nothing to do")
			}
			if r := b.apply(second); !r.ChangedCRDs || len(r.Shared) != 1 || !r.Shared[0].Inherited || len(r.Repaired) > 0 {
				t.Errorf("what the second one did: %+v", r)
			}
			b.reconcile(second)
			b.wantShared("inherited", &shared{Owner: "gw", Labelled: true})
			b.wantReady("inherited", second)
			next := gatewayOf(twoSizes)
			change(next)
			b.reconcile(next)
			if spec := b.s.objects[widgetsCRD].content["spec"]; !strings.Contains(at(spec, nil), "mode") {
				t.Error("the heir does not upgrade the CRD")
			}
			survives("upgraded", true)
			if r := b.take(next); r.Gone || r.State != Warning {
				t.Errorf("the custom resource does not block the removal of the last one: %+v", r)
			}
			b.takeAll(next, ForceRemoval())
			b.wantShared("the last one is gone", nil)
			if diff := cmp.Diff([]string{"Namespace apps"}, b.s.keys()); diff != "" {
				t.Errorf("left: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestSharedCRDLeaves checks that a bundle that no longer uses a CRD leaves no trace on it.
func TestSharedCRDLeaves(t *testing.T) {
	less := gatewayOf(oneSize)
	less.Installs = []Install{install("gw", configMap("gw"))}
	cases := map[string]struct {
		reason string
		remove func(b *bench)
	}{
		"Removed": {reason: "The bundle is removed.", remove: func(b *bench) { b.takeAll(gatewayOf(oneSize)) }},
		"Forced":  {reason: "A forced removal is about what the bundle owns.", remove: func(b *bench) { b.takeAll(gatewayOf(oneSize), ForceRemoval()) }},
		"Pruned": {reason: "A new version has no CRD.", remove: func(b *bench) {
			var pruned []string
			for range 3 {
				for _, ref := range b.apply(less).Pruned {
					pruned = append(pruned, ref.String())
				}
			}
			if len(pruned) > 0 {
				b.t.Errorf("pruned: %v", pruned)
			}
			b.wantReady("without the CRD", less)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(webOf(oneSize))
			b.reconcile(gatewayOf(oneSize))
			survives := b.custom()
			tc.remove(b)
			survives(tc.reason, true)
			b.wantShared(tc.reason, &shared{Owner: "web", Labelled: true})
			b.wantReady(tc.reason, webOf(oneSize))
			b.takeAll(webOf(oneSize), ForceRemoval())
			b.wantShared("all are gone", nil)
		})
	}
}

// TestSharedCRDPruned checks that a CRD that its owner no longer has goes to the other bundle.
func TestSharedCRDPruned(t *testing.T) {
	b := newBench(t)
	b.reconcile(webOf(oneSize))
	b.reconcile(gatewayOf(oneSize))
	survives := b.custom()
	less := bundleOf(install("web", configMap("web")))
	handed := 0
	for range 3 {
		r := b.apply(less)
		handed += len(r.HandedOver)
		if len(r.Pruned) > 0 {
			t.Errorf("pruned: %v", r.Pruned)
		}
	}
	b.wantReady("without the CRD", less)
	b.reconcile(gatewayOf(oneSize))
	b.wantShared("pruned", &shared{Owner: "gw", Labelled: true})
	survives("pruned", true)
	if handed != 1 {
		t.Errorf("handed over %d times", handed)
	}

	// The former owner has it again, and uses that of the heir.
	b.reconcile(webOf(oneSize))
	b.wantShared("again", &shared{Owner: "gw", Users: []string{"Manifest team-a/web"}, Labelled: true})
}

// TestSharedCRDUnowned checks that a CRD that no bundle installed is used as it is, and stays as it was.
func TestSharedCRDUnowned(t *testing.T) {
	b := newBench(t)
	b.s.put(manifestOf(t, crdWith(twoSizes)).Object)
	before := at(b.s.objects[widgetsCRD].content["spec"], nil)
	b.reconcile(gatewayOf(oneSize))
	b.wantShared("installed", &shared{Users: []string{byGateway}, Labelled: true})
	b.wantReady("installed", gatewayOf(oneSize))
	survives := b.custom()
	b.takeAll(gatewayOf(oneSize))
	survives("removed", true)
	b.wantShared("removed", &shared{})
	if diff := cmp.Diff(before, at(b.s.objects[widgetsCRD].content["spec"], nil)); diff != "" {
		t.Errorf("its content: -before, +after:\n%s", diff)
	}
}

// TestSharedCRDRefused checks that a bundle whose CRD needs more than that of the owner is refused, before anything of it is applied.
func TestSharedCRDRefused(t *testing.T) {
	const name = "CustomResourceDefinition widgets.example.org: "
	cases := map[string]struct {
		reason string
		has    func(b *bench)
		want   *Bundle
		err    string
		// whole is true if nothing of the bundle is applied.
		whole bool
	}{
		"Field": {
			reason: "A field is missing.", has: func(b *bench) { b.reconcile(webOf(oneSize)) }, want: gatewayOf(twoSizes), whole: true,
			err: name + "already exists and belongs to Manifest team-a/web, and cannot be used as is: version v1: the existing CRD does not have the field spec.mode; " +
				"upgrade or remove the CRD there, or set adopt",
		},
		"Version": {
			reason: "A version is missing.", has: func(b *bench) { b.reconcile(webOf(oneSize)) }, whole: true,
			want: gatewayOf(oneSize, "{name: v2, served: true, storage: false}"),
			err:  name + "already exists and belongs to Manifest team-a/web, and cannot be used as is: the existing CRD does not serve version v2; ",
		},
		"Unowned": {
			reason: "A CRD of no bundle has a type that is more restrictive.", has: func(b *bench) { b.s.put(manifestOf(t, crdWith(textSize)).Object) }, want: gatewayOf(oneSize),
			err: name + "already exists and does not belong to this module, and cannot be used as is: version v1: spec.size: type in the schema of the existing CRD is more " +
				"restrictive or different; upgrade or remove the CRD, or set adopt",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			tc.has(b)
			before := at(b.s.objects[widgetsCRD].content, nil)
			p, perr := b.Plan(t.Context(), b.c, tc.want)
			if perr != nil || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], tc.err) {
				t.Errorf("\n%s\nplan: %+v, %v", tc.reason, p.Problems, perr)
			}
			_, err := b.Apply(t.Context(), b.c, tc.want)
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nerror: want %q\ngot %v", tc.reason, tc.err, err)
			}
			if tc.whole && b.s.uidOf(key("ConfigMap", "apps", "gw")) != "" {
				t.Errorf("\n%s\nanother object is applied", tc.reason)
			}
			if o := b.observe(tc.want); o.State != Error || !strings.Contains(o.Message, tc.err) {
				t.Errorf("\n%s\nobservation: %s %s", tc.reason, o.State, o.Message)
			}
			if diff := cmp.Diff(before, at(b.s.objects[widgetsCRD].content, nil)); diff != "" {
				t.Errorf("\n%s\nthe CRD: -before, +after:\n%s", tc.reason, diff)
			}
			b.takeAll(tc.want)
		})
	}
}

// TestSharedCRDChanges checks what a bundle makes of changes of a CRD that it uses: compatible ones need nothing, others are reported
// while they last.
func TestSharedCRDChanges(t *testing.T) {
	for _, policy := range []DriftPolicy{DriftRepair, DriftReport, DriftIgnore} {
		t.Run(string(policy), func(t *testing.T) {
			b := newBench(t)
			second := gatewayOf(oneSize)
			second.Drift = policy
			b.reconcile(webOf(oneSize))
			b.reconcile(second)

			b.reconcile(webOf(twoSizes))
			if o := b.observe(second); o.UpToDate || len(o.Drift) > 0 {
				t.Errorf("a change must be checked, and is not drift: %+v", o)
			}
			if r := b.apply(second); len(r.Repaired) > 0 || len(r.Shared) > 0 {
				t.Errorf("a compatible change: %+v", r)
			}
			b.wantReady("a compatible change", second)

			b.reconcile(webOf(textSize))
			const want = "gw: CustomResourceDefinition widgets.example.org: already exists and belongs to Manifest team-a/web, and cannot be used as is: " +
				"version v1: spec.size: type in the schema of the existing CRD is more restrictive or different; upgrade or remove the CRD there"
			for range 2 {
				if _, err := b.Apply(t.Context(), b.c, second); err == nil || err.Error() != want {
					t.Errorf("error: want %s\ngot %v", want, err)
				}
				if o := b.observe(second); o.State != Error || o.Message != want || o.UpToDate {
					t.Errorf("observation: %s, up to date %t, %s", o.State, o.UpToDate, o.Message)
				}
				b.restart()
			}
			b.wantReady("the owner", webOf(textSize))
			b.reconcile(webOf(oneSize))
			b.reconcile(second)
			b.wantReady("changed back", second)
			b.wantShared("changed back", &shared{Owner: "web", Users: []string{byGateway}, Labelled: true})
		})
	}
}

// TestSharedCRDGone checks that a bundle waits for a CRD that is being deleted, and creates the one that it used once it is gone.
func TestSharedCRDGone(t *testing.T) {
	b := newBench(t)
	b.reconcile(webOf(oneSize))
	b.reconcile(gatewayOf(oneSize))
	finalizer := func(u *unstructured.Unstructured) {
		u.SetFinalizers([]string{"customresourcecleanup.apiextensions.k8s.io"})
	}
	b.s.edit(widgetsCRD, finalizer)
	b.s.mu.Lock()
	b.s.terminate(b.s.objects[widgetsCRD])
	b.s.mu.Unlock()
	for range 2 {
		if r := b.apply(gatewayOf(oneSize)); r.Created > 0 {
			t.Errorf("applied while it is being deleted: %+v", r)
		}
	}
	if o := b.observe(gatewayOf(oneSize)); o.State != Processing || !strings.Contains(o.Message, "is being deleted, waiting for finalizer") {
		t.Errorf("observation: %s %s", o.State, o.Message)
	}

	// A bundle that is new waits as well.
	third := gatewayOf(oneSize)
	third.Name, third.Owner = "team-c-gw", "Manifest team-c/gw"
	third.Installs[0].Namespace = "default"
	if r := b.apply(third); r.Waiting == "" {
		t.Errorf("a new bundle does not wait: %+v", r)
	}
	b.s.remove(widgetsCRD)
	b.reconcile(gatewayOf(oneSize))
	b.wantShared("gone", &shared{Owner: "gw", Labelled: true})
	b.reconcile(webOf(oneSize))
	b.reconcile(third)
	b.wantShared("used by the others", &shared{Owner: "gw", Users: []string{"Manifest team-a/web", "Manifest team-c/gw"}, Labelled: true})
	b.wantReady("the former owner", webOf(oneSize))
}
