// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// copyOf returns a bundle by another owner, for example of a Manifest that was copied with its annotations.
func copyOf(s *Bundle) *Bundle {
	out := *s
	out.Owner = "Manifest team-b/web"
	return &out
}

var parentSecret = cluster.ObjectRef{Kind: "Secret", Namespace: DefaultNamespace, Name: "team-a-web"}

func (b *bench) owner() string {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return b.s.objects[parentSecret].u().GetAnnotations()[object.AnnotationOwner]
}

func isOwned(err error) bool {
	e := (*OwnedError)(nil)
	return errors.As(err, &e) && e.Inventory == parentSecret && e.Owner == "Manifest team-a/web"
}

// TestOtherOwner checks that the inventory of another owner, and everything that it lists, is not changed.
func TestOtherOwner(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	other := copyOf(bundleOf(install("web", tmplConfig)))
	want := b.s.keys()
	for _, fresh := range []bool{false, true} {
		if fresh {
			b.restart()
		}
		b.s.took()
		if _, err := b.Observe(t.Context(), b.c, other); !isOwned(err) {
			t.Errorf("Observe(...): want an OwnedError, got %v", err)
		}
		if _, err := b.Plan(t.Context(), b.c, other); !isOwned(err) {
			t.Errorf("Plan(...): want an OwnedError, got %v", err)
		}
		r, err := b.Apply(t.Context(), b.c, other)
		if !isOwned(err) || len(r.Pruned) > 0 {
			t.Errorf("Apply(...): want an OwnedError, got %+v, %v", r, err)
		}
		wantErr := "Secret kyma-system/team-a-web is the inventory of Manifest team-a/web, not of Manifest team-b/web; " +
			"choose another external name, or set adopt to adopt all objects in it"
		if err == nil || err.Error() != wantErr {
			t.Errorf("want error %q, got %v", wantErr, err)
		}
		for _, adopt := range []bool{false, true} {
			leaving := *other
			leaving.Adopt = adopt
			exists, err := b.Exists(t.Context(), b.c, &leaving)
			if exists || !isOwned(err) {
				t.Errorf("Exists(...) with adopt %t: want an OwnedError, got %t, %v", adopt, exists, err)
			}
			if r, err := b.Remove(t.Context(), b.c, &leaving); r.Gone || !isOwned(err) {
				t.Errorf("Remove(...) with adopt %t: want an OwnedError, got %+v, %v", adopt, r, err)
			}
		}
		for _, r := range b.s.took() {
			if !strings.HasPrefix(r, "get") {
				t.Errorf("request %q", r)
			}
		}
	}
	if diff := cmp.Diff(want, b.s.keys()); diff != "" {
		t.Errorf("what is there: -want, +got:\n%s", diff)
	}
	if o := b.observe(s); o.State != Ready || !o.UpToDate {
		t.Errorf("the owner's bundle: %+v", o)
	}
	b.takeAll(s)
}

// TestOwnerRequired checks that a bundle that requires an owner cannot use or remove an inventory without an owner, but can
// remove what it has installed itself.
func TestOwnerRequired(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	library := *s
	library.Owner = ""
	b.reconcile(&library)
	want := b.s.keys()
	s.OwnerRequired = true
	wantErr := "Secret kyma-system/team-a-web is the inventory of an unknown owner, not of Manifest team-a/web; " +
		"choose another external name, or set adopt to adopt all objects in it"
	_, observed := b.Observe(t.Context(), b.c, s)
	_, applied := b.Apply(t.Context(), b.c, s)
	_, exists := b.Exists(t.Context(), b.c, s)
	_, removed := b.Remove(t.Context(), b.c, s)
	for call, err := range map[string]error{"Observe": observed, "Apply": applied, "Exists": exists, "Remove": removed} {
		if e := (*OwnedError)(nil); !errors.As(err, &e) || err.Error() != wantErr {
			t.Errorf("%s(...): want error %q, got %v", call, wantErr, err)
		}
	}
	if diff := cmp.Diff(want, b.s.keys()); diff != "" {
		t.Errorf("what is there: -want, +got:\n%s", diff)
	}
	s.Adopt = true
	b.reconcile(s)
	if got := b.owner(); got != s.Owner {
		t.Errorf("the inventory is of %q", got)
	}
	b.takeAll(s)
}

// TestOwnerThatAdopts checks that Adopt takes over an inventory, once and permanently.
func TestOwnerThatAdopts(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	other := copyOf(s)
	other.Adopt = true
	if o := b.observe(other); o.UpToDate || !o.Exists {
		t.Errorf("what is not taken over yet is not up to date: %+v", o)
	}
	b.reconcile(other)
	if got := b.owner(); got != other.Owner {
		t.Errorf("the inventory is of %q", got)
	}
	other.Adopt = false
	if o := b.observe(other); !o.UpToDate || o.State != Ready {
		t.Errorf("adopt may be revoked: %+v", o)
	}
	e := (*OwnedError)(nil)
	if _, err := b.Apply(t.Context(), b.c, s); !errors.As(err, &e) || e.Owner != other.Owner {
		t.Errorf("want the former owner to be refused, got %v", err)
	}
	b.takeAll(other)
}

// TestSameOwner checks that a Manifest that was created again continues with its inventory, for example after a restore of its
// control plane, and that an inventory without an owner is accepted.
func TestSameOwner(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(b *bench, s *Bundle)
	}{
		"MadeAgain": {reason: "A Manifest with the same name has the same owner, whatever its UID.", change: func(b *bench, _ *Bundle) { b.restart() }},
		"NoOwner": {reason: "Another client removed the annotation.", change: func(b *bench, _ *Bundle) {
			b.restart()
			b.s.edit(parentSecret, func(u *unstructured.Unstructured) { u.SetAnnotations(nil) })
		}},
		"Library": {reason: "A bundle of a library names no owner.", change: func(b *bench, s *Bundle) {
			b.takeAll(s)
			s.Owner = ""
			b.reconcile(s)
			b.restart()
		}},
		"NameOnly": {reason: "A program knows only the name.", change: func(b *bench, s *Bundle) {
			s.Owner = ""
			s.Labels["other"] = "label"
			b.reconcile(s)
			if got := b.owner(); got != "Manifest team-a/web" {
				b.t.Errorf("the owner is %q", got)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("web", webTemplates...))
			b.reconcile(s)
			tc.change(b, s)
			b.s.took()
			if o := b.observe(s); o.State != Ready || !o.UpToDate {
				t.Errorf("%s got %+v", tc.reason, o)
			}
			b.takeAll(s)
		})
	}
}

// TestCallsAtOnce checks that calls on one bundle do not run at the same time, because the memory of a bundle does not support
// that. Without turns, the process would end with concurrent map writes.
func TestCallsAtOnce(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	s.Readiness = []Rule{{For: key("Deployment", "apps", "web").GroupKind(), CEL: "true"}}
	b.reconcile(s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				// A change makes each observation evaluate again.
				if i == 0 {
					b.s.edit(key("Deployment", "apps", "web"), set("x", "metadata", "annotations", "x"))
				}
				if _, err := b.Observe(t.Context(), b.c, s); err != nil {
					t.Error(err)
				}
				if _, err := b.Exists(t.Context(), b.c, s); err != nil {
					t.Error(err)
				}
				if _, err := b.Apply(t.Context(), b.c, s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(b.turns.by); n != 0 {
		t.Errorf("%d turns are left", n)
	}
}

// TestTurn checks that a call waits for the previous one until its context ends.
func TestTurn(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	back, err := b.turns.take(t.Context(), placeOf(b.c, s))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	// Another owner waits, too, because it may adopt the inventory.
	for _, s := range []*Bundle{s, copyOf(s)} {
		if _, err := b.Observe(ctx, b.c, s); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another call is in progress for set team-a-web") {
			t.Errorf("%s: want the error of the context, and why, got %v", s.Owner, err)
		}
	}
	// A bundle with another name does not wait.
	other := *s
	other.Name = "team-b-web"
	if _, err := b.Observe(t.Context(), b.c, &other); err != nil {
		t.Error(err)
	}
	done := make(chan error, 1)
	go func() { _, err := b.Observe(t.Context(), b.c, s); done <- err }()
	back()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := len(b.turns.by); n != 0 {
		t.Errorf("%d turns are left", n)
	}
}

// identified is a cluster that proves its identity.
type identified struct {
	*fakeCluster

	identity string
}

func (i *identified) Identity() string { return i.identity }

// TestMemoryIsNotShared checks that two connections share cached state only if they belong to the same cluster and owner.
func TestMemoryIsNotShared(t *testing.T) {
	a := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	first := &identified{a.c, "one"}
	again := *s
	again.OwnerUID = "2"
	cases := map[string]struct {
		reason string
		c      cluster.Cluster
		s      *Bundle
		want   bool
	}{
		"Rotated":  {reason: "A connection with new credentials shares what is known.", c: &identified{newFakeCluster(t, a.s), "one"}, s: s, want: true},
		"Claimed":  {reason: "A connection that has only the address in common shares nothing.", c: &identified{newFakeCluster(t, newFakeServer()), "two"}, s: s},
		"Owner":    {reason: "Another owner shares nothing.", c: first, s: copyOf(s)},
		"UID":      {reason: "An owner that was created again shares nothing.", c: first, s: &again},
		"Forgiven": {reason: "A cluster that does not prove its identity is known by its address.", c: a.c, s: s},
	}
	m := a.memoryOf(first, s)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := a.memoryOf(tc.c, tc.s) == m; got != tc.want {
				t.Errorf("%s shared: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAdoptionWaits checks that an owner that adopts an inventory does not use it at the same time as its former owner.
func TestAdoptionWaits(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig))
	b.reconcile(s)
	adopting := copyOf(s)
	adopting.Adopt = true
	upgraded := bundleOf(install("web", tmplConfig, tmplDeploy))
	done := make(chan error, 1)
	b.interrupt(http.MethodPatch, "/deployments/web", func() {
		go func() { _, err := b.Apply(t.Context(), b.c, adopting); done <- err }()
		select {
		case err := <-done:
			t.Errorf("the other owner did not wait: %v", err)
			done <- err
		case <-time.After(50 * time.Millisecond):
		}
	})
	if _, err := b.Apply(t.Context(), b.c, upgraded); err != nil {
		t.Errorf("the former owner finishes its step: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := b.owner(); got != adopting.Owner {
		t.Errorf("the inventory is of %q", got)
	}
}
