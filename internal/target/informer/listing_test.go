// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// listingOf returns the error of kinds that are being listed, or nil.
func listingOf(err error) *cluster.ListingError {
	e := (*cluster.ListingError)(nil)
	if !errors.As(err, &e) {
		return nil
	}
	return e
}

// hold makes lists wait until the returned function is called.
func hold(t *testing.T, s *slots.Slots) (release func()) {
	t.Helper()
	release, _ = s.NewLine(1).Take(t.Context(), time.Hour)
	return release
}

// limit gives a cache the only slot of the result.
func limit(c *Cache) *slots.Slots {
	s := slots.New(1)
	c.line = s.NewLine(1)
	return s
}

// TestTrackDoesNotWait checks that no caller waits for a list, that nothing is known until it ends, and that callers are called back
// once then.
func TestTrackDoesNotWait(t *testing.T) {
	cases := map[string]struct {
		reason string
		// fail is what the lists end with.
		fail error
	}{
		"Listed": {reason: "After the list, its kind is in sync."},
		"Failed": {reason: "A list that fails is the error of its kind.", fail: errForbidden},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
				c.impatient = true
				a := server.set("a", "one", "1")
				server.fail(tc.fail)
				release := hold(t, limit(c))
				start := time.Now()
				failed := c.Track(t.Context(), []schema.GroupVersionKind{widgets, secrets})
				if d := time.Since(start); d > 0 {
					t.Errorf("\n%s\nTrack(...): waits for %s", tc.reason, d)
				}
				e := listingOf(failed[secrets])
				if e == nil || e != listingOf(failed[widgets]) {
					t.Fatalf("\n%s\nTrack(...): want one error for both kinds, got %v", tc.reason, failed)
				}
				expect(t, "the text", "the objects of kind Secret, Widget are being listed", e.Error())
				if _, known := c.Get(key("a")); known {
					t.Errorf("\n%s\nGet(...): an object is known before its kind is listed", tc.reason)
				}
				calls := 0
				e.Notify(func() { calls++ })
				synctest.Wait()
				expect(t, "calls while the list is under way", 0, calls)
				release()
				synctest.Wait()
				expect(t, "calls after the list", 1, calls)
				if err := c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets]; !errors.Is(err, tc.fail) {
					t.Errorf("\n%s\nTrack(...): want %v, got %v", tc.reason, tc.fail, err)
				}
				got, known := c.Get(key("a"))
				expect(t, "known after the list", tc.fail == nil, known)
				if known {
					expect(t, "the object", a, got)
				}
				e.Notify(func() { calls++ })
				synctest.Wait()
				expect(t, "calls if the list has ended", 2, calls)
			})
		})
	}
}

// TestFailingIsNotListing checks that a kind whose list failed is an error while it is listed again, so that its objects are read one
// by one instead of never.
func TestFailingIsNotListing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.impatient = true
		server.fail(errForbidden)
		s := limit(c)
		release := hold(t, s)
		if e := listingOf(c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets]); e == nil {
			t.Fatal("want the first list to be under way")
		}
		release()
		synctest.Wait()
		server.fail(nil)
		release = hold(t, s)
		time.Sleep(retryDeniedAfter)
		for range 2 {
			if err := c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets]; !errors.Is(err, errForbidden) {
				t.Errorf("want the error of the last list, got %v", err)
			}
		}
		release()
		synctest.Wait()
		if err := c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets]; err != nil {
			t.Errorf("want it in sync, got %v", err)
		}
	})
}

// TestListingEnds checks that a list that never ends becomes an error.
func TestListingEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.impatient = true
		end := make(chan struct{})
		defer close(end)
		server.listing = func(metav1.ListOptions) { <-end }
		release := hold(t, limit(c))
		track := func() error { return c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets] }
		if e := listingOf(track()); e == nil {
			t.Fatal("want the first list to be under way")
		}
		time.Sleep(listTime + time.Second)
		if e := listingOf(track()); e == nil {
			t.Error("want a list that waits for its turn not to be late")
		}
		release()
		time.Sleep(listTime + time.Second)
		if err := track(); err == nil || listingOf(err) != nil {
			t.Errorf("want the error of a list that takes too long, got %v", err)
		}
	})
}

// TestListingOutlastsIdle checks that a kind that waits for its turn is kept while a caller waits for its list, although the search for idle
// kinds finds it empty and not used.
func TestListingOutlastsIdle(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, _ *fake, _ *news) {
		c.impatient = true
		release := hold(t, limit(c))
		e := listingOf(c.Track(t.Context(), []schema.GroupVersionKind{secrets})[secrets])
		if e == nil {
			t.Fatal("want the first list to be under way")
		}
		calls := 0
		e.Notify(func() { calls++ })
		time.Sleep(idleAfter + time.Second)
		c.Track(t.Context(), []schema.GroupVersionKind{widgets})
		release()
		synctest.Wait()
		expect(t, "calls after the list", 1, calls)
		time.Sleep(idleAfter + time.Second)
		c.Track(t.Context(), []schema.GroupVersionKind{widgets})
		expect(t, "kinds that are idle after that", 1, len(c.kinds))
	})
}

// TestRetryThen checks that the function of Retry is called once the failing watches have continued, so that those that it wakes find
// their kinds in sync, and send no request for each object.
func TestRetryThen(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		c.impatient = true
		gvks := []schema.GroupVersionKind{secrets}
		c.Track(t.Context(), gvks)
		synctest.Wait()
		server.fail(errors.New("down"))
		time.Sleep(10 * time.Second)
		if err := c.Track(t.Context(), gvks)[secrets]; err == nil {
			t.Fatal("want a failing watch")
		}
		server.fail(nil)
		var failed error
		called := false
		c.Retry(func() { called, failed = true, c.Track(t.Context(), gvks)[secrets] })
		synctest.Wait()
		if !called || failed != nil {
			t.Errorf("want the function to be called when the kind is in sync: called %t, %v", called, failed)
		}
	})
}
