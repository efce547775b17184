// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

const (
	// tmplByVersion renders ConfigMap old up to Kubernetes 1.36, and ConfigMap new from 1.37 on.
	tmplByVersion = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ if semverCompare \">=1.37-0\" .Capabilities.KubeVersion.Version }}new{{ else }}old{{ end }}}\n"
	// tmplByAPI renders ConfigMap old, and ConfigMap new once the cluster serves example.org/v1.
	tmplByAPI = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ if .Capabilities.APIVersions.Has \"example.org/v1\" }}new{{ else }}old{{ end }}}\n"
	// tmplAsks uses both, but always renders the same objects.
	tmplAsks = "{{ if .Capabilities.APIVersions.Has \"x\" }}{{ end }}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {k: {{ if .Capabilities.KubeVersion.Major }}v{{ end }}}\n"
)

// TestRepairRepairs checks a repair after the capabilities of the cluster have changed: it never creates or prunes anything. If
// the chart renders differently, this is an upgrade, with hooks and a record.
func TestRepairRepairs(t *testing.T) {
	type args struct {
		template string
		// old removes the data that older versions did not store. kept is true if the account is not deleted, so that nothing
		// needs to be repaired.
		old, kept bool
		// known is true if the connection knows the new version without a request.
		known bool
	}
	type want struct {
		Account   bool
		Objects   []string
		Revisions []string
		Upgraded  bool
		Repaired  int
	}
	before, after := []string{"old"}, []string{"new"}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Version": {
			reason: "Another minor version is another input of a chart that asks for it.",
			args:   args{template: tmplByVersion},
			want:   want{Account: true, Objects: after, Revisions: []string{"1 superseded", "2 deployed"}, Upgraded: true, Repaired: 1},
		},
		"AtRest": {
			reason: "At rest, another minor version is noticed once the connection knows the version.",
			args:   args{template: tmplByVersion, kept: true, known: true},
			want:   want{Account: true, Objects: after, Revisions: []string{"1 superseded", "2 deployed"}, Upgraded: true},
		},
		"Old": {
			reason: "What an inventory of an older version does not know is repaired from the release record.",
			args:   args{template: tmplByVersion, old: true},
			want:   want{Account: true, Objects: before, Revisions: []string{"1 deployed"}, Repaired: 1},
		},
		"API": {
			reason: "Other API versions are another input of a chart that asks for them.",
			args:   args{template: tmplByAPI},
			want:   want{Account: true, Objects: after, Revisions: []string{"1 superseded", "2 deployed"}, Upgraded: true, Repaired: 1},
		},
		"Equal": {
			reason: "A chart that renders the same is only repaired.",
			args:   args{template: tmplAsks},
			want:   want{Account: true, Objects: before, Revisions: []string{"1 deployed"}, Repaired: 1},
		},
		"EqualAtRest": {
			reason: "A chart that renders the same is not upgraded.",
			args:   args{template: tmplAsks, kept: true, known: true},
			want:   want{Account: true, Objects: before, Revisions: []string{"1 deployed"}},
		},
		"Indifferent": {
			reason: "A chart that does not ask does not depend on the version.",
			args:   args{template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n", known: true},
			want:   want{Account: true, Objects: before, Revisions: []string{"1 deployed"}, Repaired: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", tmplAccount, tc.args.template, hookJob("before", "pre-upgrade")))
			b.reconcile(s)
			if tc.args.old {
				b.editParts(s, func(p *inventory.Part) { p.Capabilities = "" })
			}
			b.restart()
			b.c.version, b.c.apis = "v1.37.0", []string{"v1", "apps/v1", "example.org/v1"}
			if tc.args.known {
				b.c.known = b.c.version
			}
			account := key("ServiceAccount", "apps", "web")
			if !tc.args.kept {
				b.s.remove(account)
			}
			got := want{}
			for range 5 {
				if b.observe(s).UpToDate {
					break
				}
				got.Repaired += len(b.apply(s).Repaired)
			}
			if o := b.observe(s); !o.UpToDate || o.State != Ready {
				t.Errorf("\n%s\nit does not come to rest: %+v", tc.reason, o)
			}
			got.Account, got.Revisions, got.Upgraded = b.s.uidOf(account) != "", b.statuses(), b.s.uidOf(jobKey("before")) != ""
			for _, n := range []string{"old", "new"} {
				if b.s.uidOf(key("ConfigMap", "apps", n)) != "" {
					got.Objects = append(got.Objects, n)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			b.s.took()
			if b.restart(); !b.observe(s).UpToDate {
				t.Errorf("\n%s\nit is not up to date after a restart", tc.reason)
			}
			if got := b.s.took(); slices.ContainsFunc(got, func(r string) bool { return r[:3] != "get" }) {
				t.Errorf("\n%s\nwrites at rest: %q", tc.reason, got)
			}
		})
	}
}

// TestPlainAfterChart checks that an install that was a chart, and depended on the version of the cluster, comes to rest in another
// form after the cluster was upgraded.
func TestPlainAfterChart(t *testing.T) {
	b := newBench(t)
	b.reconcile(bundleOf(install("web", tmplByVersion)))
	s := bundleOf(plainOf("web", configMap("x")))
	b.reconcile(s)
	b.restart()
	b.c.version, b.c.known = "v1.37.0", "v1.37.0"
	if o := b.observe(s); !o.UpToDate || o.State != Ready {
		t.Errorf("want it to be at rest, got %+v", o)
	}
}
