// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// verbsOf makes each call that takes a bundle, and returns the errors.
func (b *bench) verbsOf(s *Bundle) map[string]error {
	ctx, errs := b.t.Context(), map[string]error{}
	_, errs["Observe"] = b.Observe(ctx, b.c, s)
	_, errs["Exists"] = b.Exists(ctx, b.c, s)
	_, errs["Plan"] = b.Plan(ctx, b.c, s)
	_, errs["Apply"] = b.Apply(ctx, b.c, s)
	_, errs["Remove"] = b.Remove(ctx, b.c, s)
	return errs
}

// TestWrongCluster checks that nothing is read or written in a cluster other than the one that contains the bundle, unless the
// bundle may move to it.
func TestWrongCluster(t *testing.T) {
	const installed = "the module is installed in the cluster with UID a, "
	const wrong = installed + "but the credentials are for the cluster with UID b; neither cluster is changed: restore the credentials, " +
		"or, to continue in the other cluster, set Bundle.NewClusterUID to b"
	const unknown = installed + "but the credentials have no permission to get namespace kube-system, which identifies the cluster; grant this permission"
	boom := errors.New("boom")
	cases := map[string]struct {
		reason       string
		is           string
		err          error
		known, meant string
		want         string
	}{
		"Same":       {reason: "The connection leads to the cluster that contains the bundle.", is: "a", known: "a"},
		"New":        {reason: "Nothing is known before the first install.", is: "b"},
		"Wrong":      {reason: "The connection leads to another cluster.", is: "b", known: "a", want: wrong},
		"Meant":      {reason: "The bundle may move to this cluster.", is: "b", known: "a", meant: "b"},
		"MeantLater": {reason: "The bundle stays where it is until the connection changes.", is: "a", known: "a", meant: "b"},
		"MeantOther": {reason: "The bundle may move to a third cluster only.", is: "b", known: "a", meant: "c", want: wrong},
		"Unreadable": {reason: "Credentials that may not read the UID prove nothing.", known: "a", want: unknown},
		"NeverKnown": {reason: "Without the UID, nothing is compared.", meant: "b"},
		"Down":       {reason: "An error is returned.", err: boom, known: "a", want: "boom"},
		"DownAtOnce": {reason: "An error is returned even if nothing is compared.", err: boom, want: "boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Engine = New()
			b.s.cluster, b.s.clusterErr = tc.is, tc.err
			s := bundleOf(install("web", webTemplates...))
			s.ClusterUID, s.NewClusterUID = tc.known, tc.meant
			before := b.s.keys()
			for verb, err := range b.verbsOf(s) {
				if got := errorText(err); got != tc.want {
					t.Errorf("\n%s\n%s(...): want error %q, got %q", tc.reason, verb, tc.want, got)
				}
				e := (*WrongClusterError)(nil)
				if isWrong := errors.As(err, &e); isWrong != (tc.want == wrong || tc.want == unknown) {
					t.Errorf("\n%s\n%s(...): a WrongClusterError: %t", tc.reason, verb, isWrong)
				}
			}
			if tc.want == "" {
				return
			}
			if diff := cmp.Diff(before, b.s.keys()); diff != "" {
				t.Errorf("\n%s\nthe cluster: -want, +got:\n%s", tc.reason, diff)
			}
			if got := b.s.took(); len(got) > 0 {
				t.Errorf("\n%s\nwant no request, got %v", tc.reason, got)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCopiedInventory checks that an inventory that was copied from another cluster, with the objects that it lists, is not
// used until the bundle may move to this cluster, and contains the UID of this cluster from then on.
func TestCopiedInventory(t *testing.T) {
	b := newBench(t)
	b.s.cluster = "a"
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	if seen := b.observe(s); seen.ClusterUID != "a" {
		t.Errorf("want an observation in cluster a, got %q", seen.ClusterUID)
	}
	b.s.cluster = "b"
	b.c.reconnect()
	const want = "Secret kyma-system/team-a-web lists the objects in the cluster with UID a, but the credentials are for the cluster with " +
		"UID b; neither cluster is changed: restore the credentials, or, to continue in the other cluster, set Bundle.NewClusterUID to b"
	for _, restarted := range []bool{false, true} {
		if restarted {
			b.restart()
		}
		before := b.s.keys()
		for verb, err := range b.verbsOf(s) {
			if got := errorText(err); got != want {
				t.Errorf("%s(...), restarted %t: want error %q, got %q", verb, restarted, want, got)
			}
		}
		if diff := cmp.Diff(before, b.s.keys()); diff != "" {
			t.Errorf("the cluster, restarted %t: -want, +got:\n%s", restarted, diff)
		}
	}

	s.NewClusterUID = "b"
	if seen := b.observe(s); seen.UpToDate || seen.ClusterUID != "b" {
		t.Errorf("want an observation in cluster b that is not up to date, got %+v", seen)
	}
	b.reconcile(s)
	s.NewClusterUID = ""
	if got := b.inventory(s).Cluster; got != "b" {
		t.Errorf("want the inventory of cluster b, got %q", got)
	}
	b.s.took()
	if seen := b.observe(s); !seen.UpToDate || seen.State != Ready {
		t.Errorf("want all that is installed, got %+v", seen)
	}
	if r := b.apply(s); r.Updated+r.Created > 0 {
		t.Errorf("want nothing to apply, got %+v", r)
	}
}

// TestClusterLearned checks that an inventory without a cluster UID does not cause an additional write, and that the next step
// adds the UID.
func TestClusterLearned(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	b.reconcile(s)
	b.s.cluster = "a"
	b.s.took()
	if seen := b.observe(s); !seen.UpToDate {
		t.Errorf("want nothing to do, got %+v", seen)
	}
	if got := b.s.took(); len(got) > 0 {
		t.Errorf("want no request, got %v", got)
	}
	b.reconcile(bundleOf(install("web", tmplConfig, tmplDeploy)))
	if got := b.inventory(s).Cluster; got != "a" {
		t.Errorf("want the inventory of cluster a, got %q", got)
	}
}

// TestOtherClusterMeanwhile checks that a bundle doesn't count as removed if its objects are missing because a different cluster has
// appeared behind the address and the connection hasn't noticed it.
func TestOtherClusterMeanwhile(t *testing.T) {
	cases := map[string]struct {
		reason string
		// listed is true if the watches have listed the other cluster.
		listed bool
		// forgotten is true if the engine has no inventory in memory. unrecorded is true if its owner has not recorded the install yet.
		forgotten, unrecorded bool
	}{
		"Watched":    {reason: "The watches still show the objects of the previous cluster, and each of them is missing."},
		"Listed":     {reason: "The watches show no inventory.", listed: true},
		"Restarted":  {reason: "The engine knows nothing but that the bundle was installed.", listed: true, forgotten: true},
		"Unrecorded": {reason: "The owner of the bundle does not know that it was installed.", listed: true, forgotten: true, unrecorded: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.cluster = "a"
			b.c.watch = newFakeWatch(b.s)
			s := bundleOf(install("web", webTemplates...))
			b.reconcile(s)
			s.ClusterUID, s.Installed = "a", !tc.unrecorded

			there := newFakeServer()
			there.cluster, there.rv = "b", 1_000_000
			b.c.server = there
			if tc.listed {
				b.c.watch = newFakeWatch(there)
			}
			if tc.forgotten {
				b.Engine = New()
			}
			verbs := map[string]func() error{
				"Exists": func() error { _, err := b.Exists(t.Context(), b.c, s); return err },
				"Remove": func() (err error) {
					for range 20 {
						var r Removal
						if r, err = b.Remove(t.Context(), b.c, s); r.Gone || err != nil {
							break
						}
					}
					return err
				},
			}
			for verb, call := range verbs {
				if verb == "Exists" && !tc.listed {
					continue // The watch shows the inventory.
				}
				b.c.uid = "a"
				e := (*WrongClusterError)(nil)
				if err := call(); !errors.As(err, &e) || e.Expected != "a" || e.Found != "b" {
					t.Errorf("\n%s\n%s(...): want a WrongClusterError, got %v", tc.reason, verb, err)
				}
				if found := b.Engine.memoryOf(b.c, s).nonMembers; len(found) > 0 {
					t.Errorf("\n%s\n%s(...): objects that were missing in the other cluster still count as deleted: %v", tc.reason, verb, found)
				}
			}
		})
	}
}

// TestOtherClusterBriefly checks that objects that are missing in a different cluster, which appeared behind the address for one step,
// are removed afterwards.
func TestOtherClusterBriefly(t *testing.T) {
	one, two, own := key("ConfigMap", "apps", "one"), key("ConfigMap", "apps", "two"), key("Namespace", "", "own")
	more := plainOf("more", configMap("more"))
	all := func() *Bundle {
		return bundleOf(more, plainOf("one", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: apps}}"),
			plainOf("two", "{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: apps}}"), plainOf("own", namespaceOf("own")))
	}
	remove := func(b *bench) error { _, err := b.Remove(b.t.Context(), b.c, all()); return err }
	prune := func(b *bench) error { _, err := b.Apply(b.t.Context(), b.c, bundleOf(more)); return err }
	cases := map[string]struct {
		reason string
		step   func(b *bench) error
		// begun is true if the step was executed before in the right cluster.
		begun bool
	}{
		"Remove":      {reason: "The step removes the bundle.", step: remove},
		"RemoveBegun": {reason: "The removal has begun before.", step: remove, begun: true},
		"PruneBegun":  {reason: "The step prunes what the bundle no longer contains.", step: prune, begun: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.cluster = "a"
			b.c.watch = newFakeWatch(b.s)
			b.reconcile(all())
			// The step waits for the first object, and the watch does not show the last one.
			b.s.objects[one].content["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			delete(b.s.objects[own].content["metadata"].(map[string]any)["labels"].(map[string]any), object.LabelManagedBy)
			b.s.touch(b.s.objects[one])
			b.c.watch.relist("")
			if tc.begun {
				if err := tc.step(b); err != nil {
					t.Fatal(err)
				}
			}

			there := newFakeServer()
			there.cluster, there.rv = "b", 1_000_000
			b.c.server, b.c.uid = there, "a"
			if err := tc.step(b); err == nil {
				t.Errorf("\n%s\nwant an error about the other cluster", tc.reason)
			}
			b.c.server = b.s
			b.c.reconnect()
			b.s.remove(one)
			for range 5 {
				if err := tc.step(b); err != nil {
					t.Fatal(err)
				}
			}
			for _, k := range []cluster.ObjectRef{two, own} {
				if b.s.objects[k] != nil {
					t.Errorf("\n%s\n%s was left behind", tc.reason, k)
				}
			}
		})
	}
}

// TestOtherClusterDuringCall checks that a call writes nothing to a different cluster that appears behind the address while it runs, even
// if its bundle adopts what exists, and even if the cluster is replaced between the check of a write and its request, and another call then
// requests the UID.
func TestOtherClusterDuringCall(t *testing.T) {
	for _, asked := range []bool{false, true} {
		testOtherClusterDuringCall(t, asked)
	}
}

func testOtherClusterDuringCall(t *testing.T, asked bool) {
	t.Helper()
	s := bundleOf(install("web", webTemplates...))
	s.Adopt = true
	for n := 1; ; n++ {
		b := newBench(t)
		b.s.cluster = "a"
		there := newFakeServer()
		there.cluster, there.rv = "b", 1_000_000
		calls := 0
		// With one request at a time, no other one is under way when the cluster is replaced. The guard is called twice for each write.
		b.Engine = New(WithConcurrency(1), WithGuard(func(ctx context.Context) error {
			if calls++; calls == n {
				b.c.server = there
				b.c.reconnect()
				if asked {
					_, _ = b.c.UID(ctx)
				}
			}
			return nil
		}))
		before := versions(there)
		var err error
		for i := 0; i < 10 && b.c.server == b.s; i++ {
			_, err = b.Apply(t.Context(), b.c, s)
		}
		if b.c.server == b.s {
			break
		}
		if e := (*WrongClusterError)(nil); !errors.As(err, &e) || e.Expected != "a" || e.Found != "b" {
			t.Errorf("call %d of the guard: want a WrongClusterError, got %v", n, err)
		}
		if diff := cmp.Diff(before, versions(there)); diff != "" {
			t.Errorf("call %d of the guard: the other cluster: -before, +after:\n%s", n, diff)
		}
	}
}

// TestReconnectDuringCall checks that a call doesn't fail because a network connection was opened again while it runs.
func TestReconnectDuringCall(t *testing.T) {
	s := bundleOf(install("web", webTemplates...))
	s.Adopt = true
	for n := 1; ; n++ {
		b := newBench(t)
		b.s.cluster = "a"
		calls := 0
		b.Engine = New(WithConcurrency(1), WithGuard(func(context.Context) error {
			if calls++; calls == n {
				b.c.reconnect()
			}
			return nil
		}))
		if _, err := b.Apply(t.Context(), b.c, s); err != nil {
			t.Errorf("call %d of the guard: %v", n, err)
		}
		if calls < n {
			break
		}
	}
}
