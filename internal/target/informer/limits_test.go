// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestManyEvents checks that the events that a malicious cluster sends do not accumulate in memory.
func TestManyEvents(t *testing.T) {
	c := New(newFake(), mapping, fakeInterpreter{})
	defer c.Close()
	k := c.kind(secrets.GroupKind())
	padding := strings.Repeat("x", 10_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200_000 {
		// The store gets a separate string, as from a decoder.
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: strconv.Itoa(i), UID: types.UID(fmt.Sprint(i, padding)), ResourceVersion: strconv.Itoa(i + 1), Labels: labels("one"),
		}}
		if err := k.seen(m); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("200,000 events with UIDs of 10 kB occupy %d MiB, want at most 64", grown>>20)
	}
	runtime.KeepAlive(c)
}

// TestTooMany checks that a kind with too many objects isn't watched, that callers get an error, and that the kind is watched
// again once there are fewer objects.
func TestTooMany(t *testing.T) {
	fill := func(server *fake, from, to int) {
		for i := from; i < to; i++ {
			server.set(fmt.Sprint("o", i), "one", strconv.Itoa(i))
		}
	}
	cases := map[string]struct {
		reason string
		limits Limits
		// before is the number of objects in the first list.
		before int
	}{
		"List":   {reason: "A list that is too long isn't kept.", limits: Limits{Objects: 10}, before: 11},
		"Events": {reason: "Events that make too many objects end the watch.", limits: Limits{Objects: 10}, before: 5},
		"Bytes":  {reason: "The size of the states counts.", limits: Limits{Bytes: 10 * (overhead + 20)}, before: 11},
		"Total":  {reason: "The size of all kinds counts.", limits: Limits{Total: 10 * (overhead + 20)}, before: 11},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				c.limits = tc.limits.withDefaults()
				fill(server, 0, tc.before)
				err := track(t, c, secrets)
				if tc.before < 10 && err != nil {
					t.Fatalf("%s: Track: %v", tc.reason, err)
				}
				fill(server, tc.before, 15)
				n.take()
				many := (*cluster.TooManyError)(nil)
				if err := track(t, c, secrets); !errors.As(err, &many) {
					t.Fatalf("%s: Track: got %v, want a TooManyError", tc.reason, err)
				}
				_, known := c.Get(key("o1"))
				expect(t, "nothing is known", false, known)
				expect(t, "nothing is kept", 0, len(c.kind(secrets.GroupKind()).objects.known))
				expect(t, "nothing is counted", int64(0), c.size.Load())
				server.asked()
				time.Sleep(time.Minute)
				if err := track(t, c, secrets); !errors.As(err, &many) {
					t.Errorf("%s: Track: got %v, want a TooManyError", tc.reason, err)
				}
				expect(t, "the list is not tried again soon", []string(nil), server.asked())

				for i := 3; i < 15; i++ {
					server.remove(fmt.Sprint("o", i))
				}
				time.Sleep(2 * deniedPause)
				if err := track(t, c, secrets); err != nil {
					t.Fatalf("%s: Track of fewer objects: %v", tc.reason, err)
				}
				_, known = c.Get(key("o1"))
				expect(t, "known again", true, known)
			})
		})
	}
}

// TestTooManyStreamed checks that the beginning of a streamed list is never treated as the complete list.
func TestTooManyStreamed(t *testing.T) {
	c := New(newFake(), mapping, fakeInterpreter{}, WithLimits(Limits{Objects: 2}))
	defer c.Close()
	k := c.kind(secrets.GroupKind())
	w := &watcher{kind: k}
	w.turn(true)
	k.life = &w.life
	counted := k.newTally()
	for i := range 4 {
		if err := counted.event(watch.Event{Type: watch.Added, Object: metadata(i, i+1)}); isTooMany(err) {
			k.exceeded(err)
		}
	}
	expect(t, "the attempt ends", true, w.over() != nil)
	if err := k.replace(counted.states, "9"); !isTooMany(err) {
		t.Errorf("replace(...): got %v, want a TooManyError", err)
	}
	expect(t, "nothing is kept", 0, len(k.objects.known))
	expect(t, "in sync", false, k.synced)
}

// TestTooManyOwn checks that objects that the provider writes count toward the limit.
func TestTooManyOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.limits = Limits{Objects: 2}.withDefaults()
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			c.Put(key(name), server.make(name, "one", name))
		}
		many := (*cluster.TooManyError)(nil)
		if err := track(t, c, secrets); !errors.As(err, &many) {
			t.Errorf("Track: got %v, want a TooManyError", err)
		}
		_, known := c.Get(key("a"))
		expect(t, "what isn't in sync is not known", false, known)
	})
}

// TestTooManyInOutage checks that nothing is requested for a kind that exceeds the limit while its watch waits for its server.
func TestTooManyInOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.limits = Limits{Objects: 2}.withDefaults()
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		server.fail(errors.New("down"))
		time.Sleep(10 * time.Second)
		for _, name := range []string{"a", "b", "c"} {
			c.Put(key(name), server.make(name, "one", name))
		}
		server.asked()
		time.Sleep(time.Minute)
		many := (*cluster.TooManyError)(nil)
		if err := track(t, c, secrets); !errors.As(err, &many) {
			t.Errorf("Track: got %v, want a TooManyError", err)
		}
		expect(t, "requests", []string(nil), server.asked())
	})
}

// TestListInPages checks that lists are read in pages.
func TestListInPages(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		server.mu.Lock()
		server.pages = true
		server.mu.Unlock()
		for i := range 1200 {
			server.set(fmt.Sprint("o", i), "one", strconv.Itoa(i))
		}
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		expect(t, "known", 1200, len(c.kind(secrets.GroupKind()).objects.known))
		lists := 0
		for _, r := range server.asked() {
			if strings.HasPrefix(r, "list ") {
				lists++
			}
		}
		expect(t, "requests", 3, lists)
	})
}

// TestLongTexts checks that the texts that a cluster sends besides its objects are only kept if they are short: no limit counts them. What is
// not valid is requested again.
func TestLongTexts(t *testing.T) {
	const refused = "the API server returned a resource version of more than 1024 bytes"
	digits, letters := strings.Repeat("0", 4<<20), strings.Repeat("x", 4<<20)
	read := func(server *fake) { server.reads = true }
	cases := map[string]struct {
		reason  string
		padding string
		// before is called before the kind is tracked, and do after the padding was set.
		before, do func(server *fake)
		// err is the beginning of the error of the kind after that, if any.
		err string
	}{
		"List":     {reason: "A list with such a version is not valid.", padding: digits, err: refused},
		"Event":    {reason: "Neither is an event.", padding: digits, before: read, do: func(server *fake) { server.set("b", "one", "2") }},
		"Bookmark": {reason: "Neither is a bookmark.", padding: digits, before: read, do: (*fake).bookmark},
		"Letters":  {reason: "Versions need not be numbers.", padding: letters, before: read, do: (*fake).bookmark},
		"Error": {
			reason: "Of the text of an error, only the beginning is kept.",
			before: read, do: func(server *fake) { server.fail(errors.New(digits)) }, err: "0000",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
				if tc.before != nil {
					tc.before(server)
					watchOne(t, c, server)
				}
				server.pad(tc.padding)
				if tc.do != nil {
					tc.do(server)
				}
				time.Sleep(10 * time.Second)
				err := track(t, c, secrets)
				if got := fmt.Sprint(err); !strings.HasPrefix(got, tc.err) || len(got) > 2*mostVersion || (err == nil) != (tc.err == "") {
					t.Errorf("\n%s\nTrack(...): want an error that begins with %q, got %.100q of %d bytes", tc.reason, tc.err, got, len(got))
				}
				server.pad("")
				server.fail(nil)
				c.Retry(func() {})
				server.set("b", "one", "2")
				time.Sleep(time.Minute)
				if _, known := c.Get(key("b")); !known {
					t.Errorf("\n%s\nwant a valid response to be accepted", tc.reason)
				}
				if n := max(len(c.kind(secrets.GroupKind()).objects.newest), len(server.began())); n > mostVersion {
					t.Errorf("\n%s\nwant no version of %d bytes to be kept", tc.reason, n)
				}
			})
		})
	}
}
