// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestPark checks that nothing is kept or received while a cache is parked, and that the next request lists the kinds again.
func TestPark(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		if !c.Park() {
			t.Fatal("want a cache in sync to be parked")
		}
		synctest.Wait()
		if _, ok := c.Get(key("a")); ok || c.size.Load() != 0 || len(c.kinds) != 0 {
			t.Errorf("want nothing to be kept, got %d bytes of %d kinds", c.size.Load(), len(c.kinds))
		}
		server.asked()
		b := server.set("b", "one", "2")
		time.Sleep(time.Hour)
		expect(t, "requests while parked", 0, len(server.asked()))
		expect(t, "changes while parked", []string(nil), n.take())
		if !c.Park() {
			t.Error("want an empty cache to be parked")
		}
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		got, _ := c.Get(key("b"))
		expect(t, "an object that was created while parked", b, got)
		server.set("b", "one", "3")
		expect(t, "changes afterwards", []string{"one: changed Secret ns/b"}, n.take())
	})
}

// TestParkRefused checks that a cache is not parked while a kind is being listed or fails.
func TestParkRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		release := hold(t, limit(c))
		if err := track(t, c, secrets); err == nil || c.Park() {
			t.Errorf("want a list that waits, got %v", err)
		}
		release()
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.fail(errors.New("down"))
		time.Sleep(10 * time.Second)
		if c.Park() {
			t.Error("want a cache whose watch fails not to be parked")
		}
	})
}

// TestParkedKind checks that a kind that Park has removed from the cache stores nothing, and that callers get an error from it at once.
func TestParkedKind(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		k := c.kind(secrets.GroupKind())
		c.Park()
		k.put(nameOf(key("a")), server.make("a", "one", "1"))
		if err := k.replace(nil, "200"); !errors.Is(err, errParked) || c.size.Load() != 0 {
			t.Errorf("want nothing to be stored, got %v and %d bytes", err, c.size.Load())
		}
		if err := (&listing{}).standing(k); !errors.Is(err, errParked) {
			t.Errorf("want an error of a kind that was parked, got %v", err)
		}
	})
}
