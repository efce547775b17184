// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// lists returns the number of list requests.
func lists(requests []string) int {
	n := 0
	for _, r := range requests {
		// The list of a single object, which returns the version of the cluster, has no selector.
		if strings.HasPrefix(r, "list ") && !strings.HasSuffix(r, " ") {
			n++
		}
	}
	return n
}

// watchOne begins to watch a server that contains an object, a minute before it returns.
func watchOne(t *testing.T, c *Cache, server *fake) {
	t.Helper()
	server.set("a", "one", "1")
	if err := track(t, c, secrets); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute) // The time of the bubble.
}

// TestResume checks that a watch resumes from its last version after a short outage, and that the kind is listed again after a
// long one.
func TestResume(t *testing.T) {
	cases := map[string]struct {
		reason string
		outage time.Duration
		lists  int
	}{
		"Short": {reason: "A fleet is not listed again because of a short outage of the network.", outage: time.Minute},
		"Long":  {reason: "After a long one, the history of the cluster may have been rewritten.", outage: time.Hour, lists: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				watchOne(t, c, server)
				server.fail(errors.New("down"))
				server.remove("a")
				server.set("b", "one", "2")
				time.Sleep(tc.outage)
				server.asked()
				server.fail(nil)
				c.Retry(func() {})
				time.Sleep(time.Second)
				expect(t, "what happened meanwhile", []string{"one: gone Secret ns/a", "one: new Secret ns/b"}, n.take())
				if got := lists(server.asked()); got != tc.lists {
					t.Errorf("\n%s\nwant %d lists, got %d", tc.reason, tc.lists, got)
				}
				if err := track(t, c, secrets); err != nil {
					t.Errorf("\n%s\nwant it in sync, got %v", tc.reason, err)
				}
			})
		})
	}
}

// unsent is the error of a request that is not sent because the server rejected the credentials of another one.
type unsent struct{}

func (unsent) Error() string      { return "rejected" }
func (unsent) Unauthorized() bool { return true }

// TestResumeRefused checks which requests follow while the server rejects the credentials, and after that.
func TestResumeRefused(t *testing.T) {
	unauthorized := apierrors.NewUnauthorized("the token has expired")
	cases := map[string]struct {
		reason string
		errs   []error // Each of them lasts half a minute.
		last   []string
	}{
		"Rejected": {
			reason: "An expired token says nothing about the objects, so the watch continues where it ended.",
			errs:   []error{unauthorized}, last: []string{"watch"},
		},
		"NotSent": {
			reason: "Further requests are not sent after the first one was rejected.",
			errs:   []error{unauthorized, unsent{}}, last: []string{"watch"},
		},
		"Down": {
			reason: "The data of a server that did not respond can be that of a backup, so its version is checked.",
			errs:   []error{unauthorized, errors.New("down"), unauthorized}, last: []string{"watch", "list"},
		},
		"Long": {
			reason: "After two minutes, the kind is listed.",
			errs:   []error{unauthorized, unauthorized, unauthorized, unauthorized, unauthorized}, last: []string{"list", "watch"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				watchOne(t, c, server)
				server.fail(tc.errs[0])
				server.set("b", "one", "2")
				for _, err := range tc.errs {
					server.fail(err)
					time.Sleep(30 * time.Second)
				}
				server.asked()
				server.fail(nil)
				c.Retry(func() {})
				time.Sleep(time.Second)
				var verbs []string
				for _, r := range server.asked() {
					verbs = append(verbs, strings.Fields(r)[0])
				}
				if diff := cmp.Diff(tc.last, verbs); diff != "" {
					t.Errorf("\n%s\nrequests after the last error: -want, +got:\n%s", tc.reason, diff)
				}
				expect(t, "what happened meanwhile", []string{"one: new Secret ns/b"}, n.take())
				if err := track(t, c, secrets); err != nil {
					t.Errorf("\n%s\nwant it in sync, got %v", tc.reason, err)
				}
			})
		})
	}
}

// TestResumeIsPaced counts the requests to a server that ends each watch immediately.
func TestResumeIsPaced(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.asked()
		for range 600 {
			server.fail(nil)
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(server.asked()); n > 61 {
			t.Errorf("want at most one request in a second, got %d in a minute", n)
		}
	})
}

// TestStreamedList checks that the watch after a streamed list that ends with the list begins at its version. Another list could contain
// the same large object, and end in the same way.
func TestStreamedList(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.streams = true
		server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.set("b", "one", "2")
		time.Sleep(time.Minute)
		expect(t, "news", []string{"one: new Secret ns/b"}, n.take())
		kind := " v1/secrets metadata=true " + fakeInterpreter{}.Selector()
		expect(t, "requests", []string{"stream" + kind, "watch" + kind}, server.asked())
	})
}

// TestBookmark checks that a watch resumes from the version of the last bookmark, whether that woke the watcher or not.
func TestBookmark(t *testing.T) {
	cases := map[string]struct {
		reason string
		reads  bool
	}{
		"Idle": {reason: "The version of a bookmark that arrives while the watch is idle counts."},
		"Read": {reason: "The version of a bookmark that is read counts.", reads: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				server.reads = tc.reads
				if err := track(t, c, secrets); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					time.Sleep(time.Minute)
					server.bookmark()
				}
				time.Sleep(time.Minute)
				server.fail(nil)
				time.Sleep(time.Minute)
				if diff := cmp.Diff("102", server.began()); diff != "" {
					t.Errorf("\n%s\nversion: -want, +got:\n%s", tc.reason, diff)
				}
				server.set("a", "one", "1")
				expect(t, "news", []string{"one: new Secret ns/a"}, n.take())
			})
		})
	}
}

// TestWatchDuration checks how long a watch lasts, and how long it waits for bookmarks, after an earlier one.
func TestWatchDuration(t *testing.T) {
	cases := map[string]struct {
		reason          string
		bookmarks, cuts bool
		reads, busy     bool
		shortest        time.Duration
		patience        time.Duration
	}{
		"Silent": {reason: "It is unknown whether a watch without bookmarks works, so it is renewed often.", shortest: shortestWatch},
		"Bookmarks": {
			reason:    "The bookmarks show that a watch works.",
			bookmarks: true, shortest: trustedWatch, patience: patience,
		},
		"Read": {
			reason:    "Bookmarks that are read count too.",
			bookmarks: true, reads: true, shortest: trustedWatch, patience: patience,
		},
		"Stalled": {
			reason:    "The next watch of a server that does not send its bookmarks is short, and does not wait for them.",
			bookmarks: true, cuts: true, shortest: shortestWatch,
		},
		"Busy": {
			reason:    "Bookmarks of a watch that is never idle, such as one over HTTP/1.1, do not count: nothing notices that they are missing.",
			bookmarks: true, busy: true, shortest: shortestWatch,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
				server.reads, server.cuts, server.busy = tc.reads, tc.cuts, tc.busy
				if err := track(t, c, secrets); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					time.Sleep(time.Minute)
					if tc.bookmarks {
						server.bookmark()
					}
				}
				time.Sleep(time.Second)
				server.fail(nil)
				time.Sleep(time.Minute)
				if d := time.Duration(server.duration()) * time.Second; d < tc.shortest || d >= 2*tc.shortest {
					t.Errorf("\n%s\nwant a watch of %s to %s, got %s", tc.reason, tc.shortest, 2*tc.shortest, d)
				}
				synctest.Wait()
				w := server.waiting()
				if got := w.Patience(); got != tc.patience {
					t.Errorf("\n%s\nPatience(): want %s, got %s", tc.reason, tc.patience, got)
				}
			})
		})
	}
}
