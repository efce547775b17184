// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"strconv"
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
	r.Add("1", "c", a)
	r.Add("1", "c", a)
	r.Add("1", "c", b)
	r.Add("2", "c", b) // Its external name changed.
	r.Changed("c", "1")
	r.Changed("c", "2")
	r.Changed("c", "3")
	r.Remove(a)
	r.Changed("c", "1")
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

// TestOtherCluster checks that a change queues only the Manifests of its cluster, and no Manifest that left the bundle. This
// matters because tenants control the responses of the clusters in their kubeconfigs.
func TestOtherCluster(t *testing.T) {
	r := New(t.Context().Done())
	r.Add("id", "a", key("team-a", "web"))
	r.Add("id", "b", key("team-b", "web"))
	r.Add("id", "a", key("team-c", "copy"))
	r.RemoveFromBundle(key("team-c", "copy"))
	r.Changed("a", "id")
	r.Changed("c", "id")
	close(r.events)
	var got []string
	for e := range r.events {
		got = append(got, e.Object.GetNamespace()+"/"+e.Object.GetName())
	}
	if diff := cmp.Diff([]string{"team-a/web"}, got); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestShare checks that a change of a CRD queues the Manifests of its cluster that use CRDs of other owners, and no others.
func TestShare(t *testing.T) {
	r := New(t.Context().Done())
	r.Add("1", "a", key("n", "uses"))
	r.Add("2", "a", key("n", "owns"))
	r.Add("3", "b", key("n", "elsewhere"))
	r.Add("4", "a", key("n", "left"))
	r.Add("5", "a", key("n", "removed"))
	for _, name := range []string{"uses", "elsewhere", "left", "removed", "unknown"} {
		r.SharerOf("a", key("n", name)).Share(true)
	}
	r.Share(key("n", "left"), false)
	r.Remove(key("n", "removed"))
	(*Sharer)(nil).Share(true)
	(*Sharer)(nil).Changed(true)
	r.SharerOf("a", key("n", "owns")).Changed(false)
	r.SharerOf("a", key("n", "owns")).Changed(true)
	close(r.events)
	var got []string
	for e := range r.events {
		got = append(got, e.Object.GetName())
	}
	if diff := cmp.Diff([]string{"uses"}, got); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	r.Remove(key("n", "uses"))
	r.Remove(key("n", "elsewhere"))
	if len(r.sharersIn) > 0 {
		t.Errorf("Manifests are left behind: %v", r.sharersIn)
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
	case <-time.After(time.Minute):
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

// TestBeatingStatus checks how many passes a custom resource causes if its status changes every 100 ms, and that a pass follows
// the last change.
func TestBeatingStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		ready  bool
		most   int
	}{
		"Ready":    {reason: "A Manifest that is Ready is reconciled every five seconds.", ready: true, most: 12},
		"NotReady": {reason: "A Manifest that is not Ready is reconciled every second.", most: 60},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(t.Context().Done(), WithReady(func(types.NamespacedName) bool { return tc.ready }))
				r.Add("id", "c", key("n", "m"))
				for range 599 {
					r.Changed("c", "id")
					time.Sleep(100 * time.Millisecond)
				}
				if n := len(r.events); n > tc.most || n < tc.most-1 {
					t.Errorf("\n%s\nwant %d passes a minute, got %d", tc.reason, tc.most, n)
				}
				time.Sleep(2 * spacingReady)
				r.Changed("c", "id")
				before := len(r.events)
				r.Changed("c", "id")
				time.Sleep(2 * spacingReady)
				if n := len(r.events) - before; n != 1 {
					t.Errorf("\n%s\nwant a pass after the last change, got %d", tc.reason, n)
				}
			})
		})
	}
}

// TestBusyCluster checks how many passes the changes in one cluster cause, and that another cluster does not wait for them.
func TestBusyCluster(t *testing.T) {
	const manifests = 1000
	synctest.Test(t, func(t *testing.T) {
		r := New(t.Context().Done())
		queued, others := 0, 0
		go func() {
			for e := range r.Events() {
				if e.Object.GetNamespace() == "other" {
					others++
					continue
				}
				queued++
			}
		}()
		defer func() { synctest.Wait(); close(r.events) }()
		for i := range manifests {
			r.Add(strconv.Itoa(i), "busy", key("n", strconv.Itoa(i)))
		}
		r.Add("other", "calm", key("other", "m"))
		change := func(d time.Duration) {
			for range d / (100 * time.Millisecond) {
				for i := range manifests {
					r.Changed("busy", strconv.Itoa(i))
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		change(time.Minute)
		synctest.Wait()
		if most := burst + 60*perSecond + 1; queued > most || queued < most-perSecond {
			t.Errorf("want about %d passes in the first minute, got %d", most, queued)
		}
		r.Changed("calm", "other")
		synctest.Wait()
		if others != 1 {
			t.Error("want a pass of another cluster at once")
		}
		before := queued
		for i := range manifests {
			r.Changed("busy", strconv.Itoa(i))
		}
		time.Sleep(manifests*time.Second/perSecond + 2*spacing)
		synctest.Wait()
		if n := queued - before; n != manifests {
			t.Errorf("want a pass of each Manifest after the last change, got %d of %d", n, manifests)
		}
	})
}

// TestBuckets checks that the bucket of an idle cluster is deleted.
func TestBuckets(t *testing.T) {
	b, now := buckets{}, time.Unix(1_700_000_000, 0)
	for i := range mostIdle + 1 {
		b.take(strconv.Itoa(i), now)
	}
	b.take("another", now.Add(time.Second))
	if len(b) != 1 {
		t.Errorf("want 1 bucket, got %d", len(b))
	}
}
