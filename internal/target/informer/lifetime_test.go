// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestEnd checks that each way to end a watch ends it, whether or not the watch is independent of the context of its request.
func TestEnd(t *testing.T) {
	ends := map[string]struct {
		reason string
		end    func(c *Cache, k *kind)
		// again is true if the kind is watched again.
		again bool
	}{
		"Close":  {reason: "The cache is closed.", end: func(c *Cache, _ *kind) { c.Close() }},
		"Park":   {reason: "The cluster is parked.", end: func(c *Cache, _ *kind) { c.Park() }},
		"Idle":   {reason: "The kind has no objects.", end: func(_ *Cache, k *kind) { k.end(time.Now().Add(time.Second)) }},
		"Switch": {reason: "Another version is watched.", again: true, end: func(_ *Cache, k *kind) { k.start(schema.GroupVersionKind{Version: "v2"}, Resource{}) }},
		"Limit":  {reason: "There are too many objects.", end: func(_ *Cache, k *kind) { k.exceeded(errForbidden) }},
	}
	for name, tc := range ends {
		for stream, attached := range map[string]bool{"Detached": false, "Attached": true} {
			t.Run(name+stream, func(t *testing.T) {
				inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
					server.attached = attached
					if err := track(t, c, secrets); err != nil {
						t.Fatal(err)
					}
					k, first := c.kind(secrets.GroupKind()), server.last
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
					if again := server.last != first; again != tc.again {
						t.Errorf("%s\nwant another watch: %t, got %t", tc.reason, tc.again, again)
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
