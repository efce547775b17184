// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// records returns the records of all releases in the cluster, as namespace, name and revision with the status.
func (b *bench) records() []string {
	out := []string{}
	for k, o := range b.s.objects {
		if name, ok := strings.CutPrefix(k.Name, release.RecordPrefix); ok && k.Kind == "Secret" {
			out = append(out, k.Namespace+"/"+name+" "+o.u().GetLabels()[release.LabelStatus])
		}
	}
	slices.Sort(out)
	return out
}

// TestLostInventoryReleases checks that a bundle whose inventory was deleted continues its releases, ends those that it no longer has,
// and runs deletion hooks only for installs that it no longer contains.
func TestLostInventoryReleases(t *testing.T) {
	web := func() Install {
		return install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade"), hookJob("bye", "pre-delete", policies(string(hook.Succeeded))))
	}
	raw := plainOf("raw", configMap("four"))
	moved := web()
	moved.Namespace = "other"
	named := func(name string, installs ...Install) *Bundle {
		s := bundleOf(installs...)
		s.Config = configOf(entryFor("web", "ReleaseName="+name, ""))
		return s
	}
	type want struct {
		Records    []string
		First, Bye int
	}
	cases := map[string]struct {
		reason        string
		before, after *Bundle
		want          want
	}{
		"Same": {
			reason: "The release continues, and no hook runs again.", before: bundleOf(web(), raw), after: bundleOf(web(), raw),
			want: want{Records: []string{"apps/web.v1 deployed"}, First: 1},
		},
		"Named": {
			reason: "A release that the config names continues, and no hook runs again.", before: named("shop", web(), raw), after: named("shop", web(), raw),
			want: want{Records: []string{"apps/shop.v1 deployed"}, First: 1},
		},
		"Removed": {
			reason: "The bundle no longer contains the install: its deletion hooks run, and its record goes.", before: bundleOf(web(), raw), after: bundleOf(raw),
			want: want{Records: []string{}, First: 1, Bye: 1},
		},
		"Moved": {
			reason: "The release moves to another namespace. It isn't deleted.", before: bundleOf(web(), raw), after: bundleOf(moved, raw),
			want: want{Records: []string{"other/web.v1 deployed"}, First: 2},
		},
		"Renamed": {
			reason: "The config names the release differently. It isn't deleted.", before: named("shop", web(), raw), after: named("store", web(), raw),
			want: want{Records: []string{"apps/store.v1 deployed"}, First: 2},
		},
		"Plain": {
			reason: "The chart becomes plain objects, which have no release.", before: bundleOf(web(), raw), after: bundleOf(plainOf("web", configMap("web")), raw),
			want: want{Records: []string{}, First: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("other")).Object)
			b.reconcile(tc.before)
			b.s.remove(parentSecret)
			b.restart()
			b.s.took()
			s := tc.after
			s.Installed = true
			b.reconcile(s)
			got := want{Records: b.records(), Bye: b.s.made[jobKey("bye")]}
			if n := len(slices.DeleteFunc(b.lists(), func(kind string) bool { return kind != "Secret" })); n > 2 {
				// One list is of the objects of the bundle, and one of the records of releases.
				t.Errorf("\n%s\nSecrets of all namespaces were listed %d times", tc.reason, n)
			}
			for k, n := range b.s.made {
				if k.Name == "first" {
					got.First += n
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLostInventoryPending checks that a removal without an inventory continues from the deployed revision, not from one whose hooks run,
// so that an install after it leaves only one deployed revision.
func TestLostInventoryPending(t *testing.T) {
	of := func(value string) *Bundle {
		s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-upgrade"), hookJob("bye", "pre-delete")))
		s.Installs[0].Values = map[string]any{"greeting": value}
		return s
	}
	b := newBench(t)
	b.reconcile(of("one"))
	b.s.unready = true
	b.apply(of("two"))
	if diff := cmp.Diff([]string{"apps/web.v1 deployed", "apps/web.v2 pending-upgrade"}, b.records()); diff != "" {
		t.Fatalf("records of a pending upgrade: -want, +got:\n%s", diff)
	}
	b.s.remove(parentSecret)
	s := of("three")
	s.Installed = true
	b.take(s) // Its hook doesn't finish.
	b.s.unready = false
	b.reconcile(s)
	if got := slices.DeleteFunc(b.records(), func(r string) bool { return !strings.HasSuffix(r, " deployed") }); len(got) != 1 {
		t.Errorf("deployed revisions: want 1, got %q", got)
	}
}

// TestLostInventoryRandom checks that a chart with random values keeps them if its inventory was deleted, in the objects and in the record.
func TestLostInventoryRandom(t *testing.T) {
	random := strings.Replace(tmplConfig, "{{ .Values.greeting }}", "{{ randAlphaNum 8 }}", 1)
	cases := map[string]struct {
		reason string
		bundle *Bundle
	}{
		"Plain": {reason: "The chart has no hooks.", bundle: bundleOf(install("web", random))},
		"Hooks": {reason: "The chart has hooks.", bundle: bundleOf(install("web", random, hookJob("first", "pre-install")))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(tc.bundle)
			k, record := key("ConfigMap", "apps", "web"), key("Secret", "apps", "sh.helm.release.v1.web.v1")
			greeting := func() any { return b.s.objects[k].content["data"].(map[string]any)["greeting"] }
			want, recorded := greeting(), b.s.objects[record].content["data"]
			b.s.remove(parentSecret)
			b.restart()
			tc.bundle.Installed = true
			b.reconcile(tc.bundle)
			if got := greeting(); got != want {
				t.Errorf("\n%s\nthe random value changed from %v to %v", tc.reason, want, got)
			}
			b.s.remove(k)
			b.reconcile(tc.bundle)
			if got := greeting(); got != want {
				t.Errorf("\n%s\nthe random value in the record changed from %v to %v", tc.reason, want, got)
			}
			if diff := cmp.Diff(recorded, b.s.objects[record].content["data"]); diff != "" {
				t.Errorf("\n%s\nthe record changed: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
