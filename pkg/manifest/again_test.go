// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestHooksOfReinstall(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	gone := func() {
		for range 5 {
			if b.take(s).Gone {
				return
			}
		}
		t.Fatal("it is not gone")
	}
	b.settle(s)
	gone()
	b.settle(s)
	gone()
	for _, name := range []string{"first", "last", "bye", "gone"} {
		if n := b.s.made[jobKey(name)]; n != 2 {
			t.Errorf("hook %s of a module that was installed and removed twice ran %d times", name, n)
		}
	}
}

func TestHooksOfLostInventory(t *testing.T) {
	b := newBench(t)
	b.settle(hookedWeb("one"))
	s := hookedWeb("two")
	b.settle(s)
	b.s.remove(cluster.ObjectRef{Kind: "Secret", Namespace: DefaultNamespace, Name: s.Name})
	made := b.s.made[jobKey("last")]
	b.restart()
	b.settle(s)
	if diff := cmp.Diff([]string{"1 superseded", "2 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	if b.s.made[jobKey("last")] != made {
		t.Error("hooks of a release that is deployed ran once more")
	}
}

func TestRecordsOfFailedRevisions(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade")))
	b.settle(s)
	for n := range DefaultHistory {
		s.Installs[0].Values = map[string]any{"greeting": string(rune('a' + n))}
		b.s.unready = true
		b.apply(s)
		failJob(b, "first")
		_, _ = b.Apply(t.Context(), b.c, s)
		b.s.unready = false
		b.settle(s, WithRetryToken("again"))
	}
	if got := b.statuses(); len(got) > DefaultHistory {
		t.Errorf("%d records are kept, those of revisions that failed among them: %v", len(got), got)
	}
}

func TestForcedRemovalOfHook(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	b.settle(s)
	b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
		if verb == "patch" && k.Kind == "Job" {
			return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no more Jobs")
		}
		return nil
	}
	if _, err := b.Remove(t.Context(), b.c, s); err == nil || !strings.Contains(err.Error(), "no more Jobs") {
		t.Errorf("a hook that cannot be created: %v", err)
	}
	var left Removal
	for range 5 {
		if left = b.take(s, ForceRemoval()); left.Gone {
			break
		}
	}
	if !left.Gone || !strings.Contains(strings.Join(left.HookFailures, "\n"), "no more Jobs") {
		t.Errorf("a removal that is forced: %+v", left)
	}
}

func TestHookThatHoldsOthers(t *testing.T) {
	b := newBench(t)
	foreign := b.s.put(manifestOf(t, namespaceOf("shared")).Object)
	uid := b.s.uidOf(foreign)
	s := bundleOf(install("web", tmplConfig, hookOf("v1", "Namespace", "shared", "pre-install")))
	s.Adopt = true
	_, err := b.Apply(t.Context(), b.c, s)
	if err == nil || !strings.Contains(err.Error(), "Namespace shared already exists and does not belong to this module") || b.s.uidOf(foreign) != uid {
		t.Errorf("a namespace of others must not be deleted with all that is in it: %v", err)
	}
}

func TestStrangersInTheWayOfUpgrade(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, "crds/"+tmplCRD))
	b.settle(s)
	b.s.put(manifestOf(t, strings.Replace(fmt.Sprintf(tmplWidget, "theirs"), "name:", "namespace: default, name:", 1)).Object)
	r := b.apply(bundleOf(install("web", tmplConfig)))
	want := "1 object of a kind that this module defines still exists: Widget default/theirs; delete the ones that you do not need"
	if r.Waiting != want {
		t.Errorf("nothing is forced where a module stays:\nwant %q\ngot  %q", want, r.Waiting)
	}
}

func TestPlanOfKept(t *testing.T) {
	b := newBench(t)
	keep := func(text string) string {
		return strings.Replace(text, "metadata: {", "metadata: {annotations: {helm.sh/resource-policy: keep}, ", 1)
	}
	s := bundleOf(install("web", tmplConfig), plainOf("raw", keep(configMap("kept"))))
	b.settle(s)
	without := bundleOf(s.Installs[0])
	b.settle(without)
	p, err := b.Plan(t.Context(), b.c, s)
	if err != nil || len(p.Problems) > 0 {
		t.Errorf("what was left behind is adopted again: %+v, %v", p, err)
	}
}

func TestMemoryOfGoneObjects(t *testing.T) {
	b := newBench(t)
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		s := bundleOf(plainOf("raw", configMap(n)))
		s.Readiness = []Rule{{CEL: "true", For: cluster.ObjectRef{Kind: "ConfigMap"}.GroupKind()}}
		b.settle(s)
		b.observe(s)
		b.s.remove(key("ConfigMap", "default", n))
		b.s.remove(key("ConfigMap", "apps", n))
		b.settle(s)
	}
	s := bundleOf(plainOf("raw", configMap("e")))
	b.settle(s)
	m := b.memoryOf(b.c, s)
	if len(m.evaluations) > 1 || len(m.repairs) > 1 || len(m.reports) > 1 {
		t.Errorf("objects that are gone are remembered: %d evaluations, %d contentions, %d reports", len(m.evaluations), len(m.repairs), len(m.reports))
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
