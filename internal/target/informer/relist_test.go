// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestRestoreResumed checks that a restore is noticed if the watch could be resumed soon after it: the server sends nothing until it has reached
// the version of the watch.
func TestRestoreResumed(t *testing.T) {
	lost := func(server *fake) { server.fail(nil) }
	restarts := func(server *fake) {
		server.fail(errors.New("restarts"))
		time.Sleep(5 * time.Second)
		server.fail(nil)
	}
	cases := map[string]struct {
		reason string
		// ends is called to end the watch. cuts is true if it ends unexpectedly.
		ends func(server *fake)
		cuts bool
		// unchecked is the error of the requests for the version, which lasts for a minute, or long.
		unchecked error
		long      bool
		// within is the time until it is noticed.
		within time.Duration
	}{
		"Restarted": {reason: "The version is checked after an outage.", ends: restarts, within: time.Minute},
		"Throttled": {
			reason: "A check that fails is repeated.", ends: restarts, unchecked: apierrors.NewTooManyRequests("later", 1), within: 2 * time.Minute,
		},
		"Down":    {reason: "A check without a response is repeated.", ends: restarts, unchecked: errors.New("timed out"), within: 2 * time.Minute},
		"Refused": {reason: "After two minutes without a check, the kind is listed.", ends: restarts, unchecked: errForbidden, long: true, within: 5 * time.Minute},
		"Lost":    {reason: "A load balancer can switch to a restored cluster when a connection is lost.", ends: lost, cuts: true, within: 10 * time.Second},
		"LostThrottled": {
			reason: "A check after a lost connection is repeated, too.", ends: lost, cuts: true,
			unchecked: apierrors.NewTooManyRequests("later", 1), within: 2 * time.Minute,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				server.version, server.cuts = 900_000, tc.cuts
				watchOne(t, c, server)
				n.take()
				server.asked()
				server.mu.Lock()
				server.version, server.log, server.unchecked = 1000, nil, tc.unchecked
				delete(server.objects, "a")
				server.mu.Unlock()
				tc.ends(server)
				if tc.unchecked != nil {
					time.Sleep(time.Minute)
					expect(t, "requests for all objects while the version is not known", 0, lists(server.asked()))
				}
				if !tc.long {
					server.check(nil)
				}
				time.Sleep(tc.within)
				if diff := cmp.Diff([]string{"one: gone Secret ns/a"}, n.take()); diff != "" {
					t.Errorf("\n%s\nchanges: -want, +got:\n%s", tc.reason, diff)
				}
				if err := track(t, c, secrets); err != nil {
					t.Errorf("\n%s\nTrack(...): want it in sync, got %v", tc.reason, err)
				}
			})
		})
	}
}

// A distant server takes a moment to begin a watch, as on a new connection.
type distant struct{ *fake }

func (s distant) Watch(ctx context.Context, r Resource, o metav1.ListOptions) (Stream, error) {
	time.Sleep(100 * time.Millisecond)
	return s.fake.Watch(ctx, r, o)
}

// TestLostConnection counts the requests after the watches of several kinds have ended together.
func TestLostConnection(t *testing.T) {
	cases := map[string]struct {
		reason string
		cuts   bool
		want   map[string]int
	}{
		"Renewed": {reason: "A watch whose time is over is only renewed.", want: map[string]int{"watch": 2}},
		"Lost":    {reason: "One request for the version is sufficient for all kinds of a lost connection.", cuts: true, want: map[string]int{"watch": 2, "list": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
				server.cuts, c.client = tc.cuts, distant{server}
				watchOne(t, c, server)
				if err := track(t, c, widgets); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					time.Sleep(time.Minute)
					server.asked()
					server.fail(nil)
					time.Sleep(time.Minute)
					got := map[string]int{}
					for _, r := range server.asked() {
						got[strings.Fields(r)[0]]++
					}
					if diff := cmp.Diff(tc.want, got); diff != "" {
						t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
					}
				}
			})
		})
	}
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
