// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

var (
	secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	widgets = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

	errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no"))
	// errPage is the error that client-go returns for any 404 whose body is not a Status.
	errPage = apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", schema.GroupResource{Resource: "secrets"}, "", "<html>", 0, true)
)

func mapping(_ context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	switch gvk.Kind {
	case "Secret":
		return cluster.Mapping{Resource: "secrets", Namespaced: true}, nil
	case "Widget":
		return cluster.Mapping{Resource: "widgets", Namespaced: true}, nil
	}
	return cluster.Mapping{}, &cluster.NoKindError{GVK: gvk}
}

func key(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "Secret", Namespace: "ns", Name: name}
}

// news collects the changes that the cache reports.
type news struct {
	mu    sync.Mutex
	lines []string
}

func (n *news) change(set string, k cluster.ObjectRef, old, now *cluster.ObjectState) {
	verb := "changed"
	if old == nil {
		verb = "new"
	}
	if now == nil {
		verb = "gone"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf("%s: %s %s", set, verb, k))
}

func (n *news) take() []string {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.lines
	n.lines = nil
	return l
}

// inBubble runs a test in a bubble with a fake clock. It also fails if a goroutine outlives the cache.
func inBubble(t *testing.T, f func(t *testing.T, c *Cache, server *fake, n *news)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, n := newFake(), &news{}
		c := New(server, mapping, fakeInterpreter{}, WithChange(n.change))
		defer c.Close()
		f(t, c, server, n)
	})
}

func track(t *testing.T, c *Cache, gvk schema.GroupVersionKind) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := c.Track(ctx, []schema.GroupVersionKind{gvk})[gvk]
	// The watch begins after the list that Track waits for.
	synctest.Wait()
	return err
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", what, diff)
	}
}

func TestFollow(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		a := server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		expect(t, "a first listing is not news", []string(nil), n.take())
		got, _ := c.Get(key("a"))
		expect(t, "what was listed", a, got)
		expect(t, "requests", []string{
			"list v1/secrets metadata=true " + fakeInterpreter{}.Selector(), "watch v1/secrets metadata=true " + fakeInterpreter{}.Selector(),
		}, server.asked())

		b := server.set("b", "one", "2")
		expect(t, "someone made one", []string{"one: new Secret ns/b"}, n.take())
		got, _ = c.Get(key("b"))
		expect(t, "what was made", b, got)

		server.set("b", "two", "2")
		expect(t, "it moved", []string{"one: changed Secret ns/b", "two: changed Secret ns/b"}, n.take())
		server.remove("b")
		expect(t, "it went", []string{"two: gone Secret ns/b"}, n.take())
		if _, ok := c.Get(key("b")); ok {
			t.Error("what is gone is still known")
		}

		c.Put(key("c"), server.set("c", "one", "3"))
		n.take()
		c.Forget(key("c"))
		server.remove("c")
		expect(t, "our own deletion is not news", []string(nil), n.take())

		for range 100 {
			if err := track(t, c, secrets); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "tracking again asks nothing", []string(nil), server.asked())
	})
}

func TestOwnWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		// The response to our write arrives before the event.
		server.mu.Lock()
		w := server.watchers[0]
		server.watchers = nil
		server.mu.Unlock()
		a := server.set("a", "one", "1")
		c.Put(key("a"), a)
		w.Add(server.objects["a"].DeepCopy())
		expect(t, "our own write is not news", []string(nil), n.take())
		got, ok := c.Get(key("a"))
		expect(t, "known", true, ok)
		expect(t, "what we wrote", a, got)
	})
}

func TestRelist(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.set("a", "one", "1")
		server.set("b", "one", "2")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.fail(errors.New("down"))
		server.remove("a")
		server.set("c", "one", "3")
		time.Sleep(5 * time.Second)
		if err := track(t, c, secrets); err == nil || err.Error() != "down" {
			t.Errorf("want the reason why it is not in sync, got %v", err)
		}
		expect(t, "nothing is known while it is down", []string(nil), n.take())
		server.fail(nil)
		time.Sleep(time.Minute)
		expect(t, "what happened meanwhile", []string{"one: gone Secret ns/a", "one: new Secret ns/c"}, n.take())
		if err := track(t, c, secrets); err != nil {
			t.Errorf("want it in sync again, got %v", err)
		}
	})
}

func TestDenied(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		server.fail(errForbidden)
		start := time.Now()
		if err := track(t, c, secrets); !apierrors.IsForbidden(err) {
			t.Fatalf("want the error of the API server, got %v", err)
		}
		if since := time.Since(start); since > time.Second {
			t.Errorf("want the error at once, and not after %s", since)
		}
		server.asked()
		for range 60 {
			time.Sleep(time.Minute)
		}
		if n := len(server.asked()); n > 20 {
			t.Errorf("want few attempts in an hour, got %d", n)
		}
		server.fail(nil)
		if err := track(t, c, secrets); err != nil {
			t.Errorf("want a new attempt when it is tracked, got %v", err)
		}
	})
}

func TestEagerTracking(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		server.fail(errForbidden)
		for range 60 {
			if err := track(t, c, secrets); !apierrors.IsForbidden(err) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if n := len(server.asked()); n > 8 {
			t.Errorf("want few attempts, though it is tracked each second, got %d", n)
		}
	})
}

func TestKindGoesAndComes(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.serve(false)
		time.Sleep(time.Minute)
		expect(t, "nothing exists without its kind", []string{"one: gone Secret ns/a"}, n.take())
		if err := track(t, c, secrets); !isNoKind(err) {
			t.Errorf("want NoKindError, got %v", err)
		}
		server.serve(true)
		time.Sleep(retryAfter)
		if err := track(t, c, secrets); err != nil {
			t.Errorf("want a new attempt when it is tracked, got %v", err)
		}
		if _, ok := c.Get(key("a")); !ok {
			t.Error("what came back is not known")
		}
	})
}

// TestPage checks that a 404 that the cluster does not confirm removes no objects.
func TestPage(t *testing.T) {
	cases := map[string]struct {
		reason  string
		unasked error
	}{
		"Served": {reason: "The page came from something on the way, and the kind is served."},
		"Page":   {reason: "The page comes from all paths.", unasked: &notfound.Error{Host: "https://example.org"}},
		"Down":   {reason: "Whether the kind is served cannot be asked.", unasked: errors.New("connection refused")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				want := server.set("a", "one", "1")
				if err := track(t, c, secrets); err != nil {
					t.Fatal(err)
				}
				server.mu.Lock()
				server.unasked = tc.unasked
				server.mu.Unlock()
				server.fail(errPage)
				time.Sleep(10 * time.Minute)
				expect(t, tc.reason+" Nothing is news", []string(nil), n.take())
				if err := track(t, c, secrets); err == nil || isNoKind(err) {
					t.Errorf("%s want another error than NoKindError, got %v", tc.reason, err)
				}
				if _, ok := c.Get(key("a")); ok {
					t.Errorf("%s want nothing known while the watch is broken", tc.reason)
				}
				server.mu.Lock()
				server.unasked = nil
				server.mu.Unlock()
				server.fail(nil)
				time.Sleep(10 * time.Minute)
				expect(t, tc.reason+" Nothing was lost", []string(nil), n.take())
				got, _ := c.Get(key("a"))
				expect(t, tc.reason+" What was known is known again", want, got)
			})
		})
	}
}

func TestOtherVersion(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		v2 := schema.GroupVersionKind{Group: widgets.Group, Version: "v2", Kind: widgets.Kind}
		for _, gvk := range []schema.GroupVersionKind{widgets, v2} {
			if err := track(t, c, gvk); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "one version is enough", []string{
			"list v1/widgets metadata=false " + fakeInterpreter{}.Selector(), "watch v1/widgets metadata=false " + fakeInterpreter{}.Selector(),
		}, server.asked())
		server.serve(false)
		time.Sleep(time.Minute)
		server.serve(true)
		server.asked()
		if err := track(t, c, v2); err != nil {
			t.Fatal(err)
		}
		expect(t, "if the version is no longer served, another one is watched", []string{
			"list v2/widgets metadata=false " + fakeInterpreter{}.Selector(), "watch v2/widgets metadata=false " + fakeInterpreter{}.Selector(),
		}, server.asked())
	})
}

func TestUnknownKind(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		if err := track(t, c, schema.GroupVersionKind{Version: "v1", Kind: "None"}); !isNoKind(err) {
			t.Errorf("want NoKindError, got %v", err)
		}
		expect(t, "requests", []string(nil), server.asked())
	})
}

func TestIdle(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		c.stopIdle()
		server.set("a", "two", "1")
		if len(n.take()) == 0 {
			t.Error("a watch with objects ended, though no one else would see that they change")
		}
		server.remove("a")
		n.take()
		time.Sleep(idleAfter)
		c.stopIdle()
		time.Sleep(time.Second)
		server.set("b", "one", "1")
		expect(t, "an idle watch has ended", []string(nil), n.take())
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(key("b")); !ok {
			t.Error("tracking a kind whose idle watch ended does not watch it again")
		}
	})
}

func TestCloseWhileWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, _ *news) {
		server.fail(errors.New("down"))
		if err := track(t, c, secrets); err == nil {
			t.Fatal("want an error")
		}
		c.Close()
		if err := track(t, c, widgets); !errors.Is(err, context.Canceled) {
			t.Errorf("want no watch after Close, got %v", err)
		}
	})
}

func TestTrackGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		c := New(newFake(), func(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
			select {
			case <-block:
			case <-ctx.Done():
				return cluster.Mapping{}, ctx.Err()
			}
			return mapping(ctx, gvk)
		}, fakeInterpreter{})
		defer c.Close()
		if err := track(t, c, secrets); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the error of the context, got %v", err)
		}
		close(block)
		if err := track(t, c, secrets); err != nil {
			t.Error(err)
		}
	})
}
