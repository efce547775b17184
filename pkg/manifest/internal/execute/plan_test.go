// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlan(t *testing.T) {
	s := Plan{
		Changes:  []Change{{Key: configMap("a"), Action: ActionCreate}, {Key: configMap("b"), Action: ActionUpdate, Fields: []string{"data.x", "data.y"}}},
		Problems: []string{"web: no chart"}, Notes: []string{"namespace apps would be created"},
	}
	want := "Create ConfigMap apps/a\nChange ConfigMap apps/b: data.x, data.y\nProblem: web: no chart\nNote: namespace apps would be created\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Errorf("String(): -want, +got:\n%s", diff)
	}
	if s.Empty() || !(&Plan{Notes: s.Notes}).Empty() {
		t.Error("a plan is empty if it has neither changes nor problems")
	}
}
