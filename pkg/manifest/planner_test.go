// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The planner checks in order whether installs are ready, up to the first one that is not. It does not check if it is already
// known that an install is not ready, nor for a plan that is only shown.
func TestPlannerAsksInOrder(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("a", configMap("a")), install("b", configMap("b")), install("c", configMap("c")))
	s.Config = configOf(entryFor("a", "Wait=true", ""), entryFor("b", "Wait=true", ""))
	b.reconcile(s)
	s.Installs[2].Values = map[string]any{"x": "y"}
	unready := func(name string) {
		s.Readiness = []Rule{{CEL: fmt.Sprintf("object.metadata.name != %q", name), For: key("ConfigMap", "", "").GroupKind()}}
		b.restart()
		b.s.took()
	}
	expect := func(reason, waiting string, want ...string) {
		t.Helper()
		got := slices.DeleteFunc(b.s.took(), func(line string) bool { return !strings.HasPrefix(line, "get ConfigMap ") })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("\n%s\nrequests: -want, +got:\n%s", reason, diff)
		}
		if got := b.observe(s).Parts[2].Message; !strings.HasPrefix(got, waiting) || (waiting == "") != (got == "") {
			t.Errorf("\n%s\nthe last install: %q, want %q", reason, got, waiting)
		}
	}

	unready("a")
	if _, err := b.Plan(t.Context(), b.c, s); err != nil {
		t.Fatal(err)
	}
	expect("A plan that is only shown asks nothing.", "is being applied")
	unready("a")
	b.apply(s)
	expect("The first one is not ready.", "waits until install a is ready", "get ConfigMap apps/a")
	unready("b")
	b.apply(s)
	expect("The second one is not ready.", "waits until install b is ready", "get ConfigMap apps/a", "get ConfigMap apps/b")
	s.Installs[0].Values = map[string]any{"x": "y"}
	unready("none")
	b.apply(s)
	expect("The first one is being applied.", "waits until install a is ready, because the config layer sets Wait: still being applied")
	unready("none")
	b.apply(s)
	expect("All are ready.", "", "get ConfigMap apps/a", "get ConfigMap apps/b")
}
