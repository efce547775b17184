// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"maps"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// tmplPassword renders differently each time.
const tmplPassword = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: password}\ndata: {k: {{ randAlphaNum 20 | quote }}}\n"

// channelBundle returns a bundle with hooks and a random password, with the labels of a channel.
func channelBundle(channel string) *Bundle {
	s := bundleOf(install("web", tmplConfig, tmplPassword,
		hookJob("before", "pre-install,pre-upgrade"), hookJob("after", "post-install,post-upgrade")))
	s.Labels = map[string]string{"channel": channel}
	return s
}

// editParts rewrites the parts of the stored inventory, for example in the form of an older version that stored less.
func (b *bench) editParts(s *Bundle, edit func(p *inventory.Part)) {
	b.t.Helper()
	inv := b.inventory(s)
	for name, rec := range inv.Parts {
		edit(&rec)
		inv.Parts[name] = rec
	}
	data, err := inv.Marshal()
	if err != nil {
		b.t.Fatal(err)
	}
	b.s.edit(key("Secret", DefaultNamespace, s.Name), func(u *unstructured.Unstructured) {
		u.Object["data"].(map[string]any)[inventory.Key] = base64.StdEncoding.EncodeToString(data)
	})
}

// TestLabelIsDecoration checks that a change to the labels of a bundle, such as a different channel of a module, is applied to
// the objects, but neither runs hooks nor installs a revision.
func TestLabelIsDecoration(t *testing.T) {
	password := key("ConfigMap", "apps", "password")
	type state struct {
		Password, Channel any
		Hooks             []string
		Revisions         []string
	}
	look := func(b *bench) state {
		hooks := []string{}
		for _, job := range []string{"before", "after"} {
			hooks = append(hooks, string(b.s.uidOf(jobKey(job))))
		}
		u := b.s.objects[password].u()
		data, _, _ := unstructured.NestedMap(b.s.objects[password].content, "data")
		return state{Password: data["k"], Channel: u.GetLabels()["channel"], Hooks: hooks, Revisions: b.statuses()}
	}
	cases := map[string]struct {
		reason string
		// between changes the state of the cluster or of the engine before the channel changes.
		between func(b *bench)
	}{
		"Now":     {reason: "The inventory has both digests.", between: func(*bench) {}},
		"Restart": {reason: "The stored inventory has both digests.", between: func(b *bench) { b.restart() }},
		"Old": {
			reason: "An inventory of an older version gets its second digest in memory when it is first observed, without a write.",
			between: func(b *bench) {
				b.editParts(channelBundle("regular"), func(p *inventory.Part) { p.Content = "" })
				b.restart()
				b.s.took()
				if o := b.observe(channelBundle("regular")); !o.UpToDate {
					b.t.Errorf("an inventory of an older version is not up to date: %+v", o)
				}
				for _, l := range b.s.took() {
					if l[:3] != "get" {
						b.t.Errorf("the inventory of an older version causes a write: %s", l)
					}
				}
			},
		},
		"Interrupted": {
			reason: "A step that changes labels can be interrupted after each request.",
			between: func(b *bench) {
				for n := 1; n < 5; n++ {
					b.c.cutAfter(n, false)
					_, _ = b.Apply(b.t.Context(), b.c, channelBundle("fast"))
					b.restart()
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(channelBundle("regular"))
			want := look(b)
			tc.between(b)
			b.reconcile(channelBundle("fast"))
			want.Channel = "fast"
			if diff := cmp.Diff(want, look(b)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			parts := b.inventory(channelBundle("fast")).Parts
			for _, p := range b.begun(channelBundle("fast")).parts {
				if rec := parts[p.Name]; rec.Digest != p.Digest || rec.Content != p.Content {
					t.Errorf("\n%s\n%s: the inventory has digests %q and %q, want %q and %q", tc.reason, p.Name, rec.Digest, rec.Content, p.Digest, p.Content)
				}
			}
		})
	}
}

// TestLabelWithoutRecord checks that a change to the labels installs a new revision if the cluster serves other kinds and the objects that
// were applied are no longer known, because the release records were deleted. Otherwise, objects that depend on the new kinds would be
// missing until the next upgrade.
func TestLabelWithoutRecord(t *testing.T) {
	const tmplAsks = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: asks}\ndata: {has: {{ .Capabilities.APIVersions.Has \"extra.example.org/v1\" | quote }}}\n" +
		"{{- if .Capabilities.APIVersions.Has \"extra.example.org/v1\" }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: served}\n{{- end }}\n"
	s := func(channel string) *Bundle {
		s := bundleOf(install("web", tmplAsks))
		s.Labels = map[string]string{"channel": channel}
		return s
	}
	cases := map[string]struct {
		reason string
		// lost is true if the release records are deleted, and other is true if the cluster serves other kinds.
		lost, other bool
		want        []string
	}{
		"Nothing": {reason: "The recorded objects get the label.", want: []string{"1"}},
		"Other":   {reason: "The recorded objects get the label, whatever the chart renders now.", other: true, want: []string{"1"}},
		"Lost":    {reason: "The chart renders the same objects.", lost: true, want: []string{"1"}},
		"Both":    {reason: "The chart renders objects that were not applied.", lost: true, other: true, want: []string{"2", "served"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.c.apis = []string{"v1"}
			b.reconcile(s("regular"))
			if tc.lost {
				for k := range b.s.objects {
					if k.Kind == "Secret" && k.Namespace == "apps" {
						b.s.remove(k)
					}
				}
			}
			if tc.other {
				b.c.apis = []string{"v1", "extra.example.org/v1"}
			}
			b.reconcile(s("fast"))
			got := []string{strconv.Itoa(b.inventory(s("fast")).Parts[object.PartOf("web")].Revision)}
			if b.s.objects[key("ConfigMap", "apps", "served")] != nil {
				got = append(got, "served")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrevision and objects: -want, +got:\n%s", tc.reason, diff)
			}
			if channel := b.s.objects[key("ConfigMap", "apps", "asks")].u().GetLabels()["channel"]; channel != "fast" {
				t.Errorf("\n%s\nwant the label fast, got %q", tc.reason, channel)
			}
		})
	}
}

// TestLabelDuringHooks checks that a change to the labels does not restart hooks that are already running.
func TestLabelDuringHooks(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	b.apply(channelBundle("regular"))
	before := b.s.uidOf(jobKey("before"))
	b.apply(channelBundle("fast"))
	if now := b.s.uidOf(jobKey("before")); before == "" || now != before {
		t.Errorf("the hook ran again: first %q, then %q", before, now)
	}
	completeJob(b, "before")
	b.apply(channelBundle("fast"))
	failJob(b, "after")
	_, _ = b.Apply(t.Context(), b.c, channelBundle("fast"))
	revisions := b.statuses()
	_, _ = b.Apply(t.Context(), b.c, channelBundle("regular"))
	if diff := cmp.Diff(revisions, b.statuses()); diff != "" {
		t.Errorf("another label does not run a failed hook again: -want, +got:\n%s", diff)
	}
	again := maps.Clone(channelBundle("regular").Labels)
	s := channelBundle("regular")
	s.Labels, s.Installs[0].Values = again, map[string]any{"greeting": "hi"}
	_, _ = b.Apply(t.Context(), b.c, s)
	if cmp.Equal(revisions, b.statuses()) {
		t.Error("another value runs a failed hook again")
	}
}
