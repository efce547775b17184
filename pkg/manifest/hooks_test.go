// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// hookJob returns a template of a Job that is a hook. More are lines of its annotations.
func hookJob(name, events string, more ...string) string {
	return hookOf("batch/v1", "Job", name, events, more...)
}

func hookOf(apiVersion, kind, name, events string, more ...string) string {
	lines := append([]string{fmt.Sprintf("helm.sh/hook: %q", events)}, more...)
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  annotations:\n    %s\n", apiVersion, kind, name, strings.Join(lines, "\n    "))
}

func weight(n int) string           { return fmt.Sprintf("helm.sh/hook-weight: \"%d\"", n) }
func policies(all ...string) string { return "helm.sh/hook-delete-policy: " + strings.Join(all, ",") }

func jobKey(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Group: "batch", Kind: "Job", Namespace: "apps", Name: name}
}

// hookWrites returns the writes in a log that are about hooks and objects: no reads, records, inventories or namespaces.
func hookWrites(log []string) []string {
	var out []string
	for _, l := range log {
		verb, rest, _ := strings.Cut(l, " ")
		if verb == "get" || verb == "getcollection" || strings.HasPrefix(rest, "Secret") || strings.HasPrefix(rest, "Namespace") {
			continue
		}
		out = append(out, l)
	}
	return out
}

// statuses returns the statuses of the recorded revisions of web.
func (b *bench) statuses() []string {
	b.t.Helper()
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	var out []string
	for k, o := range b.s.objects {
		if k.Kind == "Secret" && strings.HasPrefix(k.Name, release.RecordPrefix+"web.v") {
			l := o.u().GetLabels()
			out = append(out, l[release.LabelRevision]+" "+l[release.LabelStatus])
		}
	}
	slices.Sort(out)
	return out
}

func failJob(b *bench, name string) {
	b.s.status(jobKey(name), map[string]any{"conditions": []any{map[string]any{
		"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}}})
}

func completeJob(b *bench, name string) {
	b.s.status(jobKey(name), map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}})
}

// hookedWeb returns a bundle with hooks of all events.
func hookedWeb(greeting string) *Bundle {
	s := bundleOf(install("web", tmplConfig, "crds/"+tmplCRD,
		hookJob("first", "pre-install,pre-upgrade,pre-rollback", weight(-1), policies(string(hook.BeforeCreation), string(hook.Succeeded))),
		hookOf("v1", "ConfigMap", "settings", "pre-install"),
		hookJob("last", "post-install,post-upgrade,post-rollback"),
		hookJob("bye", "pre-delete", policies(string(hook.Succeeded), string(hook.BeforeCreation))),
		hookJob("gone", "post-delete"),
		hookOf("v1", "Pod", "probe", "test", weight(1)), hookOf("v1", "Pod", "ping", "test-success")))
	s.Installs[0].Values = map[string]any{"greeting": greeting}
	return s
}

func TestHooks(t *testing.T) {
	const (
		crd = "patch CustomResourceDefinition widgets.example.org"
		web = "patch ConfigMap apps/web"
	)
	b := newBench(t)
	s := hookedWeb("one")
	r := b.apply(s)
	want := []string{crd, "patch Job apps/first", "patch ConfigMap apps/settings", "delete Job apps/first", web, "patch Job apps/last"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("install: -want, +got:\n%s", diff)
	}
	if o := b.observe(s); !o.UpToDate || o.State != Ready || o.Total != 2 || r.HooksRun != 3 || len(r.Installed) != 1 {
		t.Errorf("after the install: %+v, %+v", o, r)
	}
	if diff := cmp.Diff([]string{"1 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}

	b.s.took()
	b.observe(s)
	if log := b.s.took(); len(log) != 0 {
		t.Errorf("requests at rest: %v", log)
	}
	b.s.remove(key("ConfigMap", "apps", "web"))
	b.s.remove(jobKey("last"))
	b.apply(s)
	if diff := cmp.Diff([]string{web}, hookWrites(b.s.took())); diff != "" {
		t.Errorf("a repair runs no hooks: -want, +got:\n%s", diff)
	}

	b.reconcile(hookedWeb("two"))
	want = []string{"patch Job apps/first", "delete Job apps/first", web, "patch Job apps/last"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("upgrade: -want, +got:\n%s", diff)
	}
	back := hookedWeb("one")
	b.reconcile(back, AsRollback())
	want = []string{"patch Job apps/first", "delete Job apps/first", web, "patch Job apps/last", "delete Job apps/last", "patch Job apps/last"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("rollback: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 superseded", "2 superseded", "3 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}

	b.restart()
	for range 5 {
		if b.take(s).Gone {
			break
		}
	}
	want = []string{"patch Job apps/bye", "delete Job apps/bye", "delete ConfigMap apps/web", "patch Job apps/gone", "delete CustomResourceDefinition widgets.example.org"}
	if diff := cmp.Diff(want, hookWrites(b.s.took())); diff != "" {
		t.Errorf("removal: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ConfigMap apps/settings", "Job apps/gone", "Job apps/last", "Namespace apps"}, b.s.keys()); diff != "" {
		t.Errorf("what hooks leave behind, as with Helm: -want, +got:\n%s", diff)
	}
}

func TestPlaceOfHook(t *testing.T) {
	foreign := func(labels map[string]any) map[string]any {
		return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "first", "namespace": "apps", "labels": labels}}
	}
	ours := map[string]any{object.LabelPartOf: bundleOf().ID(DefaultNamespace), object.LabelManagedBy: object.DefaultManagedBy}
	cases := map[string]struct {
		reason   string
		template string
		before   map[string]any
		adopt    bool
		want     string
		stays    bool
	}{
		"Foreign": {
			reason: "An object of another client is not deleted.", template: hookJob("first", "pre-install"), before: foreign(nil),
			want: "Job apps/first already exists and does not belong to this module", stays: true,
		},
		"Adopted": {reason: "An object of another client is deleted if adoption is requested.", template: hookJob("first", "pre-install"), before: foreign(nil), adopt: true},
		"Before":  {reason: "By default, the hook of the last run is replaced.", template: hookJob("first", "pre-install"), before: foreign(ours)},
		"Kept": {
			reason: "With another policy it is in the way, as in Helm.", template: hookJob("first", "pre-install", policies(string(hook.Succeeded))), before: foreign(ours),
			want: "already exists", stays: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			k := b.s.put(tc.before)
			uid := b.s.uidOf(k)
			s := bundleOf(install("web", tmplConfig, tc.template))
			s.Adopt = tc.adopt
			got := ""
			for range 3 {
				if _, err := b.Apply(t.Context(), b.c, s); err != nil {
					got = err.Error()
				}
			}
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant error %q, got %q", tc.reason, tc.want, got)
			}
			if stays := b.s.uidOf(k) == uid; stays != tc.stays {
				t.Errorf("\n%s\nthe object stays: %v", tc.reason, stays)
			}
		})
	}
}

func TestOrderOfInstalls(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")), install("extra", configMap("one")))
	s.Resource = manifestOf(t, configMap("resource"))
	b.s.unready = true
	b.apply(s)
	if b.s.objects[key("ConfigMap", "apps", "one")] != nil {
		t.Error("the second install did not wait for the hook of the first")
	}
	completeJob(b, "first")
	b.reconcile(s)
	// Drift in one install is repaired while another one waits.
	s.Installs[0].Values = map[string]any{"greeting": "bye"}
	s.Installs[0].Layer = install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade")).Layer
	b.apply(s)
	b.s.remove(key("ConfigMap", "apps", "one"))
	b.apply(s)
	if b.s.objects[key("ConfigMap", "apps", "one")] == nil {
		t.Error("what drifted was not repaired while another install waited")
	}
}

// A behind cluster has a watch that still shows an earlier state, as after a restart from a cache of the API server.
type behind struct {
	*fakeCluster

	k   cluster.ObjectRef
	old cluster.ObjectState
}

func (b *behind) Cache() cluster.Cache { return b }

func (b *behind) Get(k cluster.ObjectRef) (cluster.ObjectState, bool) {
	if k == b.k {
		return b.old, true
	}
	return b.fakeCluster.Get(k)
}

func TestHookBehindTheWatch(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	b.apply(s)
	c := &behind{fakeCluster: b.c, k: jobKey("first"), old: cluster.ObjectState{UID: "before", Status: cluster.Current, Outcome: cluster.OutcomeSucceeded, Set: b.ID(s)}}
	if _, err := b.Apply(t.Context(), c, s); err != nil {
		t.Fatal(err)
	}
	if b.s.objects[key("ConfigMap", "apps", "web")] != nil {
		t.Error("a hook that runs was taken for one that is gone")
	}
}
