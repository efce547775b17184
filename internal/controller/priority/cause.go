// SPDX-License-Identifier: Apache-2.0

package priority

import "sigs.k8s.io/controller-runtime/pkg/handler"

// The priorities of reconciles, by their cause.
const (
	// User is the priority of what a user has changed, and of what results from it.
	User = 0
	// Install is the priority of a resource that was created, until it is Ready for the first time.
	Install = -20
	// State is the priority of changes in clusters: of objects, of connections, and of Manifests as their Kymas see them.
	State = -40
	// Rollout is the priority of changes that affect many resources, such as a new version of a template, until they are Ready.
	Rollout = handler.LowPriority
	// Resync is the priority of what probably has not changed: polls, and the initial list at startup.
	Resync = -200
)

// NameOf returns the name of a priority, as in metrics.
func NameOf(priority int) string {
	switch {
	case priority >= User:
		return "User"
	case priority >= Install:
		return "Install"
	case priority >= State:
		return "State"
	case priority >= Rollout:
		return "Rollout"
	}
	return "Resync"
}
