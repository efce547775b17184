// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"testing"
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
		r.queue(key("n", "a"))
	}
	close(done)
	returned := make(chan struct{})
	go func() {
		r.queue(key("n", "a"))
		close(returned)
	}()
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Error("queue(...) blocks a controller that stops")
	}
}

func TestQuietError(t *testing.T) {
	why := errors.New("why")
	err := errors.Wrap(&QuietError{Err: why}, "x")
	if !kerrors.IsConflict(err) || !errors.Is(err, why) {
		t.Errorf("want an error that the managed reconciler takes for a conflict, with its reason, got %v", err)
	}
}
