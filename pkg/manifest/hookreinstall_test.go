// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestHooksOfReinstall(t *testing.T) {
	b := newBench(t)
	s := hookedWeb("one")
	gone := func() {
		for range 5 {
			if b.take(s).Gone {
				return
			}
		}
		t.Fatal("it is not gone")
	}
	b.reconcile(s)
	gone()
	b.reconcile(s)
	gone()
	for _, name := range []string{"first", "last", "bye", "gone"} {
		if n := b.s.made[jobKey(name)]; n != 2 {
			t.Errorf("hook %s of a module that was installed and removed twice ran %d times", name, n)
		}
	}
}

func TestHooksOfLostInventory(t *testing.T) {
	b := newBench(t)
	b.reconcile(hookedWeb("one"))
	s := hookedWeb("two")
	b.reconcile(s)
	b.s.remove(cluster.ObjectRef{Kind: "Secret", Namespace: DefaultNamespace, Name: s.Name})
	made := b.s.made[jobKey("last")]
	b.restart()
	b.reconcile(s)
	if diff := cmp.Diff([]string{"1 superseded", "2 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	if b.s.made[jobKey("last")] != made {
		t.Error("hooks of a release that is deployed ran once more")
	}
}
