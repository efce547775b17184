// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func name(config string, i int) types.NamespacedName {
	return types.NamespacedName{Namespace: config, Name: strconv.Itoa(i)}
}

func TestShares(t *testing.T) {
	const workers = 16
	cases := map[string]struct {
		reason string
		// before is the number of passes of config a that request a worker before config b does.
		before int
		a, b   bool
	}{
		"Alone":  {reason: "Half of the workers may be used by one ProviderConfig.", before: workers/2 - 1, a: true, b: true},
		"Half":   {reason: "No more than half.", before: workers / 2, b: true},
		"Flood":  {reason: "However many want one.", before: 1000, b: true},
		"Beside": {reason: "Few passes hinder no other.", before: 1, a: true, b: true},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			s := New(workers, func(types.NamespacedName) {})
			for i := range tc.before {
				s.Acquire("a", name("a", i))
			}
			got := []bool{s.Acquire("a", name("a", -1)), s.Acquire("b", name("b", 0))}
			if diff := cmp.Diff([]bool{tc.a, tc.b}, got); diff != "" {
				t.Errorf("\n%s\nAcquire() of a and b: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSharesTurns simulates a tenant with a thousand Manifests and fifty tenants with one Manifest each, on ten workers. It
// counts how many passes of the first tenant complete before the last of the other tenants has had its turn.
func TestSharesTurns(t *testing.T) {
	const workers, many, others = 10, 1000, 50
	var queue []types.NamespacedName
	s := New(workers, func(nn types.NamespacedName) { queue = append(queue, nn) })
	for i := range many {
		queue = append(queue, name("flood", i))
	}
	for i := range others {
		queue = append(queue, name(fmt.Sprint("tenant", i), 0))
	}
	done := map[string]int{}
	var running []types.NamespacedName
	last := 0
	for len(queue) > 0 || len(running) > 0 {
		for len(queue) > 0 && len(running) < workers {
			nn := queue[0]
			queue = queue[1:]
			if s.Acquire(nn.Namespace, nn) {
				running = append(running, nn)
			}
		}
		nn := running[0]
		running = running[1:]
		s.Release(nn.Namespace)
		done[nn.Namespace]++
		if nn.Namespace != "flood" {
			last = done["flood"]
		}
	}
	if done["flood"] != many || len(done) != others+1 {
		t.Errorf("want a pass over each Manifest, got %d and %d", done["flood"], len(done)-1)
	}
	if last > 2*others {
		t.Errorf("want the turn of others to come soon, got %d passes of the first tenant before it", last)
	}
	if len(s.used)+len(s.waiting)+len(s.queued)+s.total != 0 {
		t.Errorf("want nothing left: %+v", s)
	}
}

// TestSharesForget checks that a deleted Manifest does not take the turn of another Manifest.
func TestSharesForget(t *testing.T) {
	var woken []types.NamespacedName
	s := New(1, func(nn types.NamespacedName) { woken = append(woken, nn) })
	for i := range 3 {
		s.Acquire("a", name("a", i))
	}
	s.Forget(name("a", 1))
	s.Release("a")
	if diff := cmp.Diff([]types.NamespacedName{name("a", 2)}, woken); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
}

// TestSharesRace acquires and releases workers concurrently.
func TestSharesRace(t *testing.T) {
	s := New(8, func(types.NamespacedName) {})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 200 {
				config := strconv.Itoa(j % 3)
				if s.Acquire(config, name(config, i)) {
					s.Release(config)
				}
			}
		})
	}
	wg.Wait()
	if s.total != 0 || len(s.used) != 0 {
		t.Errorf("want all workers returned, got %d, %v", s.total, s.used)
	}
}

// A connector connects, fails or panics.
type connector struct {
	managed.TypedExternalClient[*v1alpha1.Manifest]

	err    error
	panics bool
}

func (c *connector) Connect(context.Context, *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	if c.panics {
		panic("a defect")
	}
	return c, c.err
}

func (c *connector) Disconnect(context.Context) error { return nil }

func TestLimited(t *testing.T) {
	s := New(1, func(types.NamespacedName) {})
	mr := func(n string) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: n}}
		m.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "c"})
		return m
	}
	inner := &connector{err: errors.New("no")}
	c := Limited[*v1alpha1.Manifest](inner, s)
	if _, err := c.Connect(t.Context(), mr("a")); !errors.Is(err, inner.err) {
		t.Errorf("want the error of the connector, got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		inner.panics = true
		_, err := c.Connect(t.Context(), mr("a"))
		t.Errorf("want a panic, got %v", err)
	}()
	inner.err, inner.panics = nil, false
	e, err := c.Connect(t.Context(), mr("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t.Context(), mr("b")); !kerrors.IsConflict(err) || !errors.Is(err, errTurn) {
		t.Errorf("want a quiet error while another pass runs, got %v", err)
	}
	if err := e.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t.Context(), mr("b")); err != nil {
		t.Errorf("want the worker that was returned, got %v", err)
	}
}
