// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// OfCustomResource returns the state of the custom resource of a module, and a message for any state but Ready. It reads
// .status.state, the convention of Kyma's modules; if that field is missing, it uses conditions and kstatus. It ignores a status
// of an older generation.
func OfCustomResource(u *unstructured.Unstructured, sum cluster.ObjectState) (State, string) {
	status, ok, err := unstructured.NestedMap(u.Object, "status")
	if err != nil || !ok || len(status) == 0 {
		return Processing, "has no status yet"
	}
	if seen, ok := status["observedGeneration"].(int64); ok && seen < u.GetGeneration() {
		return Processing, fmt.Sprintf("status.observedGeneration is %d, but metadata.generation is %d", seen, u.GetGeneration())
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

// Types of conditions that mean a failure if they are True, and types that mean success.
var (
	failures  = map[string]bool{"Stalled": true, "Failed": true}  //nolint:gochecknoglobals // Constant.
	successes = map[string]bool{"Ready": true, "Available": true} //nolint:gochecknoglobals // Constant.
)

// byConditions returns the state of a custom resource without .status.state: Error if it is stalled or has failed, Processing if
// it is not ready or not available, and otherwise the result of kstatus.
func byConditions(status map[string]any, sum cluster.ObjectState) (State, string) {
	conditions, _ := status["conditions"].([]any)
	waiting := ""
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		kind, _ := m["type"].(string)
		why, _ := m["message"].(string)
		why = fmt.Sprintf("condition %s is %v: %s", kind, m["status"], cmp.Or(text.OneLine(why), "no message"))
		switch {
		case failures[kind] && m["status"] == "True":
			return Error, why
		case successes[kind] && m["status"] != "True" && waiting == "":
			waiting = why
		}
	}
	if waiting != "" && sum.Status != cluster.Failed {
		return Processing, waiting
	}
	return OfStatus(sum)
}

// describe returns a message for a state. It includes the message of the first condition that is not True and has a message.
func describe(status map[string]any, state string) string {
	out := "status.state is " + state
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["status"] == "True" {
			continue
		}
		if message, ok := m["message"].(string); ok && message != "" {
			return out + ": " + text.OneLine(message)
		}
	}
	return out
}
