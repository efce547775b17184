// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// withWeb returns the members of the web chart, with the record of a revision of its release, and the inventory.
func withWeb(revision string, more ...string) []string {
	out := append(slices.Clone(webObjects), "Namespace apps", "Secret apps/sh.helm.release.v1.web.v"+revision, "Secret kyma-system/team-a-web")
	out = append(out, more...)
	slices.Sort(out)
	return out
}

func TestInstallCountsRequests(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"apps", DefaultNamespace} {
		b.s.put(manifestOf(t, namespaceOf(n)).Object)
	}
	s := bundleOf(install("web", webTemplates...))
	r := b.apply(s)
	got := b.s.took()
	if len(got) != len(webObjects)+3 {
		t.Fatalf("an install must take 3 requests more than it has objects, got %d: %q", len(got), got)
	}
	if r.Created != len(webObjects) || r.Waiting != "" || !slices.Equal(r.Installed, []string{"web 1.0.0"}) {
		t.Errorf("result: %+v", r)
	}
	inventory := "patch Secret kyma-system/team-a-web"
	ends := []string{got[0], got[len(got)-2], got[len(got)-1]}
	if diff := cmp.Diff([]string{inventory, "post Secret apps/", inventory}, ends); diff != "" {
		t.Errorf("the inventory must be written before objects are: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(withWeb("1"), b.s.keys()); diff != "" {
		t.Errorf("cluster: -want, +got:\n%s", diff)
	}
	o := b.observe(s)
	want := observe.Observation{Exists: true, UpToDate: true, State: Ready, Ready: 5, Total: 5, Parts: []observe.PartState{{Install: "web", Phase: observe.PhaseReady, State: Ready, Version: "1.0.0"}}}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("observation: -want, +got:\n%s", diff)
	}
	b.apply(s)
	if got := b.s.took(); got != nil {
		t.Errorf("at rest there must be no requests, got %q", got)
	}
}

func TestRestartAtRest(t *testing.T) {
	b := newBench(t)
	s, other := bundleOf(install("web", webTemplates...)), bundleOf(install("other", configMap("x")))
	other.Name = "team-a-other"
	b.reconcile(s)
	b.reconcile(other)
	b.s.took()
	b.restart()
	for _, s := range []*Bundle{s, other} {
		if o := b.observe(s); !o.UpToDate || o.State != Ready {
			t.Errorf("observation of %s after a restart: %+v", s.Name, o)
		}
		b.apply(s)
	}
	if diff := cmp.Diff([]string{"getcollection Secret kyma-system/"}, b.s.took()); diff != "" {
		t.Errorf("after a restart the inventories are read with one request and nothing is written: -want, +got:\n%s", diff)
	}
}

func TestUpgrade(t *testing.T) {
	values := func(in Install, v map[string]any) Install { in.Values = v; return in }
	cases := map[string]struct {
		reason string
		from   *Bundle
		to     *Bundle
		want   []string
		parts  map[string]int // Revision by part.
	}{
		"Prune": {
			reason: "What the new version no longer contains must be deleted.",
			from:   bundleOf(install("web", webTemplates...)),
			to:     bundleOf(install("web", tmplConfig, tmplDeploy)),
			want: []string{"ConfigMap apps/web", "Deployment apps/web", "Namespace apps", "Secret apps/sh.helm.release.v1.web.v1",
				"Secret apps/sh.helm.release.v1.web.v2", "Secret kyma-system/team-a-web"},
			parts: map[string]int{"web": 2},
		},
		"Values": {
			reason: "Other values make another revision of the same objects.",
			from:   bundleOf(install("web", webTemplates...)),
			to:     bundleOf(values(install("web", webTemplates...), map[string]any{"greeting": "bye"})),
			want:   withWeb("1", "Secret apps/sh.helm.release.v1.web.v2"),
			parts:  map[string]int{"web": 2},
		},
		"Renamed": {
			reason: "If an install is renamed, its objects must stay, and its old release must end.",
			from:   bundleOf(install("old", webTemplates...)),
			to:     bundleOf(install("web", webTemplates...)),
			want:   withWeb("1"),
			parts:  map[string]int{"web": 1},
		},
		"Moved": {
			reason: "An object that moves to another install must stay.",
			from:   bundleOf(install("a", configMap("x"), configMap("y")), install("b", configMap("z"))),
			to:     bundleOf(install("a", configMap("x")), install("b", configMap("y"), configMap("z"))),
			want: []string{"ConfigMap apps/x", "ConfigMap apps/y", "ConfigMap apps/z", "Namespace apps", "Secret apps/sh.helm.release.v1.a.v1",
				"Secret apps/sh.helm.release.v1.a.v2", "Secret apps/sh.helm.release.v1.b.v1", "Secret apps/sh.helm.release.v1.b.v2",
				"Secret kyma-system/team-a-web"},
			parts: map[string]int{"a": 2, "b": 2},
		},
		"Namespace": {
			reason: "A release cannot change its namespace: it ends in one and begins in the other.",
			from:   bundleOf(install("a", configMap("x"))),
			to: func() *Bundle {
				s := bundleOf(install("a", configMap("x")))
				s.Installs[0].Namespace = "default"
				return s
			}(),
			want:  []string{"ConfigMap default/x", "Namespace apps", "Secret default/sh.helm.release.v1.a.v1", "Secret kyma-system/team-a-web"},
			parts: map[string]int{"a": 1},
		},
		"Emptied": {
			reason: "A bundle without installs has only an inventory.",
			from:   bundleOf(install("web", webTemplates...)),
			to:     bundleOf(),
			want:   []string{"Namespace apps", "Secret kyma-system/team-a-web"},
			parts:  map[string]int{},
		},
		"Version": {
			reason: "An object in another version of its kind is the same object.",
			from:   bundleOf(install("a", "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n")),
			to:     bundleOf(install("a", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n")),
			want: []string{"HorizontalPodAutoscaler apps/x", "Namespace apps", "Secret apps/sh.helm.release.v1.a.v1",
				"Secret apps/sh.helm.release.v1.a.v2", "Secret kyma-system/team-a-web"},
			parts: map[string]int{"a": 2},
		},
		"NamespaceOfInventories": {
			reason: "The namespace of the inventories belongs to no bundle, although many modules include it.",
			from:   bundleOf(install("a", namespaceOf(DefaultNamespace), configMap("x"))),
			to:     bundleOf(),
			want:   []string{"Namespace apps", "Secret kyma-system/team-a-web"},
			parts:  map[string]int{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(tc.from)
			uid := b.s.uidOf(key("ConfigMap", "apps", "y"))
			b.reconcile(tc.to)
			if diff := cmp.Diff(tc.want, b.s.keys()); diff != "" {
				t.Errorf("\n%s\ncluster: -want, +got:\n%s", tc.reason, diff)
			}
			if got := b.s.uidOf(key("ConfigMap", "apps", "y")); got != uid {
				t.Errorf("\n%s\nConfigMap y was recreated", tc.reason)
			}
			got := map[string]int{}
			for n, rec := range b.inventory(tc.to).Parts {
				got[string(n)] = rec.Revision
			}
			if diff := cmp.Diff(tc.parts, got); diff != "" {
				t.Errorf("\n%s\nrevisions: -want, +got:\n%s", tc.reason, diff)
			}
			b.restart()
			if o := b.observe(tc.to); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			if r := b.take(tc.to); !r.Gone {
				t.Fatalf("\n%s\nremoval: %+v", tc.reason, r)
			}
			left := slices.DeleteFunc(b.s.keys(), func(k string) bool { return k == "Namespace apps" })
			if len(left) != 0 {
				t.Errorf("\n%s\nleft after removal: %q", tc.reason, left)
			}
		})
	}
}

func TestRollbackOfHalfAnUpgrade(t *testing.T) {
	greet := func(s *Bundle) *Bundle {
		s.Installs[0].Values = map[string]any{"greeting": "bye"}
		s.Labels = map[string]string{"team": "b"}
		return s
	}
	cases := map[string]struct {
		reason string
		two    *Bundle
	}{
		"Changed": {reason: "A changed object must be changed back.", two: greet(bundleOf(install("web", tmplConfig, tmplDeploy)))},
		"Added":   {reason: "An added object must be deleted.", two: greet(bundleOf(install("web", tmplConfig, tmplDeploy, tmplRole)))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			one := bundleOf(install("web", tmplConfig, tmplDeploy))
			b.reconcile(one)
			b.s.fault = forbid("Deployment")
			if _, err := b.Apply(t.Context(), b.c, tc.two); err == nil {
				t.Fatal("the upgrade must fail")
			}
			b.s.fault = nil
			b.restart()
			b.reconcile(one)
			got := b.s.objects[key("ConfigMap", "apps", "web")].content["data"].(map[string]any)["greeting"]
			if got != "hello" {
				t.Errorf("\n%s\ngreeting after the rollback: want hello, got %v", tc.reason, got)
			}
			if b.s.uidOf(key("ClusterRole", "", "web")) != "" {
				t.Errorf("\n%s\nthe object of the failed upgrade is still there", tc.reason)
			}
		})
	}
}
