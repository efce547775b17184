// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestEnd checks that each way to end a watch ends it, whether or not the watch is independent of the context of its request.
func TestEnd(t *testing.T) {
	ends := map[string]struct {
		reason string
		end    func(c *Cache, k *kind)
		// again is true if the kind is watched again, and later is true if it is after a pause.
		again, later bool
	}{
		"Close":  {reason: "The cache is closed.", end: func(c *Cache, _ *kind) { c.Close() }},
		"Park":   {reason: "The cluster is parked.", end: func(c *Cache, _ *kind) { c.Park() }},
		"Idle":   {reason: "The kind has no objects.", end: func(_ *Cache, k *kind) { k.end(time.Now().Add(time.Second)) }},
		"Switch": {reason: "Another version is watched.", again: true, end: func(_ *Cache, k *kind) { k.start(schema.GroupVersionKind{Version: "v2"}, Resource{}) }},
		"Limit":  {reason: "There are too many objects.", later: true, end: func(_ *Cache, k *kind) { k.exceeded(errForbidden) }},
	}
	for name, tc := range ends {
		for stream, attached := range map[string]bool{"Detached": false, "Attached": true} {
			t.Run(name+stream, func(t *testing.T) {
				inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
					server.attached = attached
					if err := track(t, c, secrets); err != nil {
						t.Fatal(err)
					}
					k, first := c.kind(secrets.GroupKind()), server.current()
					server.set("a", "", "1")
					synctest.Wait()
					if _, ok := c.Get(key("a")); !ok {
						t.Errorf("%s\nwant the watch to receive an event", tc.reason)
					}
					server.remove("a")
					synctest.Wait()
					tc.end(c, k)
					synctest.Wait()
					if !isStopped(first) {
						t.Errorf("%s\nwant the watch to be stopped", tc.reason)
					}
					if again := server.current() != first; again != tc.again {
						t.Errorf("%s\nwant another watch: %t, got %t", tc.reason, tc.again, again)
					}
					if !tc.again && !tc.later {
						c.running.Wait() // The watcher has ended.
					}
					if time.Sleep(2 * deniedPause); tc.later && server.current() == first {
						t.Errorf("%s\nwant another watch after a pause", tc.reason)
					}
				})
			})
		}
	}
}

func isStopped(s *fakeStream) bool {
	select {
	case _, ok := <-s.ResultChan():
		return !ok
	default:
		return false
	}
}

// TestEndBefore checks that a watch whose response arrives when it must end already does not delay the end of the cache, although the API server sends
// nothing else.
func TestEndBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		server.streams, server.silent = true, true
		sent, respond, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
		server.beginning = func() {
			close(sent)
			<-respond
		}
		go func() { _ = c.Track(t.Context(), []schema.GroupVersionKind{secrets}) }()
		<-sent
		go func() {
			c.Close()
			close(closed)
		}()
		synctest.Wait()
		close(respond)
		select {
		case <-closed:
		case <-time.After(time.Second):
			t.Error("want the cache to be closed")
		}
	})
}

// TestEndAtBegin checks that a watch that begins when its attempt must end already is stopped.
func TestEndAtBegin(t *testing.T) {
	ends := map[string]func(k *kind){
		"End":   func(k *kind) { k.life.end() },
		"Abort": func(k *kind) { k.life.abort() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			c := New(newFake(), mapping, fakeInterpreter{})
			defer c.Close()
			k := c.kind(secrets.GroupKind())
			w := &watcher{kind: k}
			k.life = &w.life
			w.turn(true)
			k.mu.Lock()
			end(k)
			k.mu.Unlock()
			s := &fakeStream{Interface: watch.NewRaceFreeFake()}
			w.follow(s)
			if !isStopped(s) || w.over() == nil {
				t.Errorf("want the watch to be stopped, and the attempt to end with an error, got %v", w.over())
			}
		})
	}
}

// TestTrackWhileParking checks that a kind that was requested, but not watched yet, when the cluster was parked, is watched.
func TestTrackWhileParking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		discovering, proceed := make(chan struct{}), make(chan struct{})
		c := New(newFake(), func(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
			close(discovering)
			<-proceed
			return mapping(ctx, gvk)
		}, fakeInterpreter{})
		defer c.Close()
		failed := make(chan error)
		go func() { failed <- c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets] }()
		<-discovering
		if !c.Park() {
			t.Error("want the cache to be parked")
		}
		close(proceed)
		select {
		case err := <-failed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("want the kind to be listed")
		}
		if !c.Park() {
			t.Error("want the cache to be parked again")
		}
	})
}

// TestPanicAfterWatch checks that a watch is stopped if the check of the cluster panics.
func TestPanicAfterWatch(t *testing.T) {
	server := newFake()
	c := New(server, mapping, fakeInterpreter{})
	defer c.Close()
	w := &watcher{kind: c.kind(secrets.GroupKind()), down: true, version: "1"}
	server.listing = func(metav1.ListOptions) { panic("a list that cannot be decoded") }
	seconds := int64(1)
	err := panics.Do("the test", func() error {
		_, err := w.resume(metav1.ListOptions{ResourceVersion: "1", TimeoutSeconds: &seconds})
		return err
	})
	if err == nil || !isStopped(server.current()) {
		t.Errorf("want an error and a stopped watch, got %v", err)
	}
}
