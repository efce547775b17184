// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// awaitInstalls holds the custom resource of the set back until all installs are applied: only then is all there that
// serves it.
func (st *step) awaitInstalls() {
	for _, pl := range st.plans {
		if pl.install != nil && !st.stopped(pl.name) {
			st.complete(pl)
		}
	}
	for _, pl := range st.plans {
		if pl.resource == nil || st.stopped(pl.name) {
			continue
		}
		for i := range st.parts {
			p := &st.parts[i]
			if p.resource == nil && (st.stopped(p.name) || st.held[p.name]) {
				st.wait(pl.name, fmt.Sprintf("%s waits until %s is applied", pl.title(), p.title()))
				break
			}
		}
	}
}

// stateOf a custom resource by the convention of Kyma's modules, .status.state, and by conditions and kstatus where it does
// not follow it. What its status says of an older generation does not count.
func stateOf(u *unstructured.Unstructured, sum cluster.ObjectState) (State, string) {
	status, ok, err := unstructured.NestedMap(u.Object, "status")
	if err != nil || !ok || len(status) == 0 {
		return Processing, "has no status yet"
	}
	if seen, ok := status["observedGeneration"].(int64); ok && seen < u.GetGeneration() {
		return Processing, fmt.Sprintf("its status is of generation %d, and it has generation %d", seen, u.GetGeneration())
	}
	state, ok := status["state"].(string)
	if !ok || state == "" {
		return byConditions(status, sum)
	}
	switch s := State(state); s {
	case Ready:
		return Ready, ""
	case Processing, Warning, Error, Deleting:
		return s, describe(status, state)
	}
	return Processing, fmt.Sprintf("status.state is %q", state)
}

// Types of conditions that say that something is wrong when they are True, and that all is well when they are.
var (
	failing = map[string]bool{"Stalled": true, "Failed": true}  //nolint:gochecknoglobals // Constant.
	well    = map[string]bool{"Ready": true, "Available": true} //nolint:gochecknoglobals // Constant.
)

// byConditions judges a custom resource without a state: what is stalled or has failed is an error, what is not ready or
// not available is worked on, and all else is known to kstatus.
func byConditions(status map[string]any, sum cluster.ObjectState) (State, string) {
	conditions, _ := status["conditions"].([]any)
	waiting := ""
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		kind, _ := m["type"].(string)
		text, _ := m["message"].(string)
		text = fmt.Sprintf("condition %s is %v: %s", kind, m["status"], or(oneLine(text), "it says no more"))
		switch {
		case failing[kind] && m["status"] == "True":
			return Error, text
		case well[kind] && m["status"] != "True" && waiting == "":
			waiting = text
		}
	}
	if waiting != "" && sum.Status != cluster.Failed {
		return Processing, waiting
	}
	return byStatus(sum)
}
