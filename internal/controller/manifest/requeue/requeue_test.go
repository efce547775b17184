// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func TestRequeuer(t *testing.T) {
	r := New(t.Context().Done())
	a, b := key("n", "a"), key("n", "b")
	r.Add("1", a)
	r.Add("1", a)
	r.Add("1", b)
	r.Add("2", b) // Its external name changed.
	r.Changed("1")
	r.Changed("2")
	r.Changed("3")
	r.Remove(a)
	r.Changed("1")
	r.Wake(key("n", "c").String())
	close(r.events)
	var got []string
	for e := range r.events {
		got = append(got, e.Object.GetNamespace()+"/"+e.Object.GetName())
	}
	if diff := cmp.Diff([]string{"n/a", "n/b", "n/c"}, got); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if len(r.manifestsOf) != 1 || len(r.bundleOf) != 1 {
		t.Errorf("Manifests are left behind: %v %v", r.manifestsOf, r.bundleOf)
	}
}

// TestRequeuerStops fills the channel, which nothing reads after the controller has stopped.
func TestRequeuerStops(t *testing.T) {
	done := make(chan struct{})
	r := New(done)
	for range eventBuffer {
		r.Queue(key("n", "a"))
	}
	close(done)
	returned := make(chan struct{})
	go func() {
		r.Queue(key("n", "a"))
		close(returned)
	}()
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Error("Queue(...) blocks a controller that stops")
	}
}

func TestQuietError(t *testing.T) {
	why := errors.New("why")
	err := errors.Wrap(&QuietError{Err: why}, "x")
	if !kerrors.IsConflict(err) || !errors.Is(err, why) {
		t.Errorf("want an error that the managed reconciler takes for a conflict, with its reason, got %v", err)
	}
}

// TestBeatingStatus holds how many passes a custom resource costs whose status changes each 100 ms, and that the last change is
// followed by one.
func TestBeatingStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		ready  bool
		most   int
	}{
		"Ready":    {reason: "A Manifest that is Ready is reconciled every five seconds.", ready: true, most: 12},
		"NotReady": {reason: "One that becomes Ready is reconciled every second.", most: 60},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(t.Context().Done(), WithReady(func(types.NamespacedName) bool { return tc.ready }))
				r.Add("id", key("n", "m"))
				for range 599 {
					r.Changed("id")
					time.Sleep(100 * time.Millisecond)
				}
				if n := len(r.events); n > tc.most || n < tc.most-1 {
					t.Errorf("\n%s\nwant %d passes a minute, got %d", tc.reason, tc.most, n)
				}
				time.Sleep(2 * spacingReady)
				r.Changed("id")
				before := len(r.events)
				r.Changed("id")
				time.Sleep(2 * spacingReady)
				if n := len(r.events) - before; n != 1 {
					t.Errorf("\n%s\nwant a pass after the last change, got %d", tc.reason, n)
				}
			})
		})
	}
}
