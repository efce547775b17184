// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestRestore checks that the state of a cluster whose storage was restored from a backup is accepted, even though all its
// versions are older than the known ones.
func TestRestore(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		relisted := 0
		c.relisted = func() { relisted++ }
		server.version = 900_000
		server.set("gone", "one", "1")
		server.set("kept", "two", "2")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		// The engine wrote one of the objects itself.
		c.Put(key("gone"), server.set("gone", "one", "1"))
		n.take()

		server.mu.Lock()
		server.version, server.log = 1000, nil
		delete(server.objects, "gone")
		server.objects["kept"].SetResourceVersion("990")
		server.mu.Unlock()
		server.fail(errors.New("restarts"))
		time.Sleep(5 * time.Second)
		if _, ok := c.Get(key("gone")); ok {
			t.Error("outdated state is known while the watch is broken")
		}
		server.fail(nil)
		time.Sleep(time.Minute)
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		expect(t, "all are told", []string{"one: gone Secret ns/gone", "two: changed Secret ns/kept"}, n.take())
		expect(t, "the connection is told", 1, relisted)
		if _, ok := c.Get(key("gone")); ok {
			t.Error("what the list does not have is still known")
		}
		server.set("gone", "one", "3")
		expect(t, "a new object with an older version", []string{"one: new Secret ns/gone"}, n.take())
	})
}

// TestListReplacesCache checks that lists request the most recent state, and that they don't discard concurrent writes of the
// provider.
func TestListReplacesCache(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		var own cluster.ObjectState
		server.listing = func(o metav1.ListOptions) {
			expect(t, "the version to list", "", o.ResourceVersion)
			if own.UID == "" {
				own = server.make("own", "one", "7")
				c.Put(key("own"), own)
			}
		}
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		got, ok := c.Get(key("own"))
		expect(t, "known", true, ok)
		expect(t, "what was written after the list began", own, got)
		server.fail(errors.New("down"))
		time.Sleep(5 * time.Second)
		server.mu.Lock()
		server.version, server.log = 50, nil
		server.mu.Unlock()
		server.fail(nil)
		time.Sleep(time.Minute)
		if _, ok := c.Get(key("own")); ok {
			t.Error("the next list, which does not have it, is not believed")
		}
		expect(t, "it is gone", []string{"one: gone Secret ns/own"}, n.take())
	})
}

// TestUnsynced checks that the cache returns no state for a kind that cannot be watched, not even for objects that the provider
// wrote.
func TestUnsynced(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.Put(key("a"), cluster.ObjectState{UID: "1", ResourceVersion: "1"})
		if _, ok := c.Get(key("a")); ok {
			t.Error("an object of a kind that is not tracked is known")
		}
		server.fail(errForbidden)
		if err := track(t, c, secrets); err == nil {
			t.Fatal("want the error of the watch")
		}
		c.Put(key("a"), cluster.ObjectState{UID: "1", ResourceVersion: "2"})
		if _, ok := c.Get(key("a")); ok {
			t.Error("an object of a kind that may not be watched is known")
		}
	})
}
