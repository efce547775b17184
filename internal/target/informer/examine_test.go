// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestExamine checks that a change of any field is news for kinds that rules are about, and only for these.
func TestExamine(t *testing.T) {
	cases := map[string]struct {
		reason   string
		gvk      schema.GroupVersionKind
		examined bool
		want     []string
	}{
		"Other":    {reason: "No rule reads the field.", gvk: widgets},
		"Examined": {reason: "A rule may read the field.", gvk: widgets, examined: true, want: []string{"one: changed Widget ns/a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
				server.set("a", "one", "1")
				if tc.examined {
					c.Examine([]schema.GroupKind{tc.gvk.GroupKind()})
				}
				if err := track(t, c, tc.gvk); err != nil {
					t.Fatal(err)
				}
				server.beat("a", "1")
				expect(t, tc.reason, tc.want, n.take())
			})
		})
	}
}

// TestExamineMetadata checks that each version of an object whose metadata alone is watched is news if rules are about its kind.
func TestExamineMetadata(t *testing.T) {
	for _, examined := range []bool{false, true} {
		c := New(newFake(), mapping, fakeInterpreter{})
		changes := 0
		c.change = func(string, cluster.ObjectRef, *cluster.ObjectState, *cluster.ObjectState) { changes++ }
		if examined {
			c.Examine([]schema.GroupKind{secrets.GroupKind()})
		}
		k := c.kind(secrets.GroupKind())
		for version := range 3 {
			if err := k.seen(metadata(1, version+1)); err != nil {
				t.Fatal(err)
			}
		}
		if want := map[bool]int{false: 1, true: 3}[examined]; changes != want {
			t.Errorf("examined %t: want %d changes, got %d", examined, want, changes)
		}
		c.Close()
	}
}

// TestExamineLater checks that a kind that was already watched when its first rule came misses no change, and that own writes of
// such a kind are still not news.
func TestExamineLater(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		server.set("a", "one", "1")
		if err := track(t, c, widgets); err != nil {
			t.Fatal(err)
		}
		c.Examine([]schema.GroupKind{widgets.GroupKind()})
		server.beat("a", "1")
		expect(t, "the first change", []string{"one: changed Widget ns/a"}, n.take())
		server.mu.Lock()
		server.version++
		u := server.objects["a"].DeepCopy()
		u.SetResourceVersion("1000")
		w := server.watchers[0]
		server.mu.Unlock()
		ref := key("a")
		ref.Group, ref.Kind = widgets.Group, widgets.Kind
		c.Put(ref, fakeInterpreter{}.State(u))
		w.Modify(u)
		again := u.DeepCopy()
		again.SetResourceVersion("1001")
		w.Modify(again)
		expect(t, "an own write, and a change of metadata", []string(nil), n.take())
		got, _ := c.Get(ref)
		expect(t, "the hash", fakeInterpreter{}.Content(u), got.Content)
	})
}

// beat changes a field of an object that is not in its metadata.
func (f *fake) beat(name, data string) {
	f.mu.Lock()
	u := f.objects[name].DeepCopy()
	f.mu.Unlock()
	f.update(name, func(to *unstructured.Unstructured) {
		to.Object = u.Object
		to.Object["data"] = data
	})
}
