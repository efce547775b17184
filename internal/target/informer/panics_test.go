// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A panickingInterpreter panics on objects with the name bad, until fixed is set.
type panickingInterpreter struct {
	fakeInterpreter

	fixed *atomic.Bool
}

func (i panickingInterpreter) State(m *unstructured.Unstructured) cluster.ObjectState {
	if m.GetName() == "bad" && !i.fixed.Load() {
		panic("a bad object")
	}
	return stateOf(m)
}

// TestSurvivePanics checks that an object on which the interpreter panics only causes an error of its kind, that the kind is
// retried with a growing pause, and that it recovers.
func TestSurvivePanics(t *testing.T) {
	cases := map[string]struct {
		reason string
		listed bool
	}{
		"Listed":  {reason: "The object is in the first list.", listed: true},
		"Watched": {reason: "The object is in an event of a kind that is in sync."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, i := newFake(), panickingInterpreter{fixed: &atomic.Bool{}}
				c := New(server, mapping, i)
				defer c.Close()
				server.set("good", "one", "1")
				if tc.listed {
					server.set("bad", "one", "2")
				}
				err := track(t, c, secrets)
				if !tc.listed {
					if err != nil {
						t.Fatal(err)
					}
					server.set("bad", "one", "2")
					synctest.Wait()
					time.Sleep(time.Minute)
					err = track(t, c, secrets)
				}
				if !panics.Is(err) {
					t.Fatalf("%s\nwant the error of a panic, got %v", tc.reason, err)
				}
				if _, ok := c.Get(key("good")); ok {
					t.Errorf("%s\nwant nothing to be known of a kind that is not in sync", tc.reason)
				}
				server.asked()
				for range 60 {
					time.Sleep(time.Minute)
					_ = track(t, c, secrets)
				}
				if n := lists(server.asked()); n < 5 || n > 20 {
					t.Errorf("%s\nwant 5 to 20 attempts in an hour, got %d", tc.reason, n)
				}
				i.fixed.Store(true)
				time.Sleep(2 * deniedPause)
				if err := track(t, c, secrets); err != nil {
					t.Errorf("%s\nwant it in sync again, got %v", tc.reason, err)
				}
				if _, ok := c.Get(key("bad")); !ok {
					t.Errorf("%s\nwant the object to be known", tc.reason)
				}
			})
		})
	}
}

// TestPanicOfReceiver checks that if one receiver of changes panics, the others still receive their changes.
func TestPanicOfReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, n := newFake(), &news{}
		c := New(server, mapping, fakeInterpreter{}, WithChange(func(set string, k cluster.ObjectRef, old, now *cluster.ObjectState) {
			if set == "bad" {
				panic("a bad change")
			}
			n.change(set, k, old, now)
		}))
		defer c.Close()
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		server.set("a", "bad", "1")
		server.set("b", "one", "2")
		expect(t, "the changes", []string{"one: new Secret ns/b"}, n.take())
		if err := track(t, c, secrets); err != nil {
			t.Errorf("want the kind in sync, got %v", err)
		}
	})
}

// TestMustList checks when a kind is listed again because each watch ends before its first event.
func TestMustList(t *testing.T) {
	cases := map[string]struct {
		reason string
		// lives is the duration of each watch.
		lives   time.Duration
		version func(i int) string
		want    bool
	}{
		"Brief":    {reason: "Something ends each watch at once.", lives: time.Second, version: func(int) string { return "1" }, want: true},
		"Long":     {reason: "A watch of a quiet kind ends after some time.", lives: 10 * time.Minute, version: func(int) string { return "1" }},
		"Advances": {reason: "Events arrive before each end.", lives: time.Second, version: func(i int) string { return string(rune('a' + i%2)) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, got := resumption{}, false
				for i := range 200 {
					got = got || r.mustList(tc.version(i))
					r.at = time.Now()
					time.Sleep(tc.lives)
				}
				if got != tc.want {
					t.Errorf("%s\nmustList: want %t, got %t", tc.reason, tc.want, got)
				}
			})
		})
	}
}
