// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestKinds checks that the cache says which kinds are in sync, and whether they have objects of a set.
func TestKinds(t *testing.T) {
	type kinds = map[schema.GroupVersionKind]bool
	inBubble(t, func(t *testing.T, c *Cache, server *fake, n *news) {
		expect(t, "nothing is watched yet", kinds{}, c.Kinds("one"))
		c.Put(key("own"), server.set("own", "one", "0"))
		expect(t, "an own write does not make it in sync", kinds{}, c.Kinds("one"))
		server.remove("own")
		server.set("a", "one", "1")
		if err := track(t, c, secrets); err != nil {
			t.Fatal(err)
		}
		expect(t, "the kind has an object of the set", kinds{secrets: true}, c.Kinds("one"))
		expect(t, "it has none of another one", kinds{secrets: false}, c.Kinds("two"))
		server.set("a", "two", "1")
		n.take()
		expect(t, "the object moved", kinds{secrets: false}, c.Kinds("one"))
		expect(t, "to the other set", kinds{secrets: true}, c.Kinds("two"))
		server.remove("a")
		n.take()
		expect(t, "it went", kinds{secrets: false}, c.Kinds("two"))

		server.fail(errors.New("down"))
		time.Sleep(5 * time.Second)
		expect(t, "nothing is known while it is down", kinds{}, c.Kinds("two"))
		server.fail(nil)
	})
}
