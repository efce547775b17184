// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

// MissingImage is the prefix of images that cannot be pulled. A Deployment with such an image does not become available.
const MissingImage = "missing.example.org/"

// reconcileWorkload makes a workload available.
func (c controller) reconcileWorkload(k record.Key) {
	set := statuses[k.GroupResource.String()]
	t, ok := c.target(k)
	r := c.cluster.store.Get(k)
	if set == nil || !ok || r == nil || isDeleting(t.view(r)) {
		return
	}
	object := t.view(r)
	delete(metadataOf(object), "managedFields")
	if k.Resource == "deployments" {
		annotations := child(metadataOf(object), "annotations")
		if _, ok := annotations["deployment.kubernetes.io/revision"]; !ok {
			annotations["deployment.kubernetes.io/revision"] = "1"
		}
	}
	set(object)
	t.Subresource = "status"
	mustWrite(c.cluster.change(t, t.view(r), object, nil, Write{Manager: controllerManager}))
}

// statuses contains functions that set the status of a workload, by resource.
var statuses = map[string]func(object map[string]any){
	"deployments.apps": func(o map[string]any) {
		n := replicas(o)
		if lacksImage(o) {
			hang(o, n)
			return
		}
		fillStatus(o, map[string]any{
			"replicas": n, "updatedReplicas": n, "readyReplicas": n, "availableReplicas": n, "unavailableReplicas": int64(0),
			"observedGeneration": generation(o),
		})
		name := textOf(o, "name")
		setCondition(o, "Available", "MinimumReplicasAvailable", "Deployment has minimum availability.")
		setCondition(o, "Progressing", "NewReplicaSetAvailable", `ReplicaSet "`+name+`" has successfully progressed.`)
	},
	"replicasets.apps": func(o map[string]any) {
		n := replicas(o)
		fillStatus(o, map[string]any{
			"replicas": n, "fullyLabeledReplicas": n, "readyReplicas": n, "availableReplicas": n, "observedGeneration": generation(o),
		})
	},
	"statefulsets.apps": func(o map[string]any) {
		n, revision := replicas(o), textOf(o, "name")+"-0"
		fillStatus(o, map[string]any{
			"replicas": n, "updatedReplicas": n, "currentReplicas": n, "readyReplicas": n, "availableReplicas": n,
			"observedGeneration": generation(o), "currentRevision": revision, "updateRevision": revision, "collisionCount": int64(0),
		})
	},
	"daemonsets.apps": func(o map[string]any) {
		one := int64(1)
		fillStatus(o, map[string]any{
			"currentNumberScheduled": one, "desiredNumberScheduled": one, "numberAvailable": one, "numberReady": one,
			"updatedNumberScheduled": one, "numberMisscheduled": int64(0), "observedGeneration": generation(o),
		})
	},
	"jobs.batch": func(o map[string]any) {
		if nested(o, "status", "completionTime") != nil || nested(o, "spec", "suspend") == true {
			return
		}
		n, ok := nested(o, "spec", "completions").(int64)
		if !ok {
			n = 1
		}
		fillStatus(o, map[string]any{
			"succeeded": n, "ready": int64(0), "terminating": int64(0), "startTime": now(), "completionTime": now(),
			"uncountedTerminatedPods": map[string]any{},
		})
		const message = "Reached expected number of succeeded pods"
		setCondition(o, "SuccessCriteriaMet", "CompletionsReached", message)
		setCondition(o, "Complete", "CompletionsReached", message)
	},
	"persistentvolumeclaims": func(o map[string]any) { child(o, "status")["phase"] = "Bound" },
	"pods": func(o map[string]any) {
		phase := "Running"
		if policy, _ := nested(o, "spec", "restartPolicy").(string); !strings.EqualFold(policy, "Always") {
			phase = "Succeeded"
		}
		child(o, "status")["phase"] = phase
		for _, c := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
			setCondition(o, c, "", "")
		}
	},
}

// lacksImage reports whether an image of a workload cannot be pulled.
func lacksImage(object map[string]any) bool {
	containers, _ := nested(object, "spec", "template", "spec", "containers").([]any)
	return slices.ContainsFunc(containers, func(c any) bool {
		m, _ := c.(map[string]any)
		image, _ := m["image"].(string)
		return strings.HasPrefix(image, MissingImage)
	})
}

// hang sets the status of a Deployment whose update does not progress: one new pod waits for its image. The old ones stay, because a
// Deployment with few replicas replaces none before the new one is available.
func hang(object map[string]any, replicas int64) {
	old, _ := nested(object, "status", "availableReplicas").(int64)
	if old = min(old, replicas); old == 0 {
		fillStatus(object, map[string]any{
			"replicas": replicas, "updatedReplicas": replicas, "unavailableReplicas": replicas, "readyReplicas": int64(0),
			"availableReplicas": int64(0), "observedGeneration": generation(object),
		})
		return
	}
	fillStatus(object, map[string]any{
		"replicas": old + 1, "updatedReplicas": int64(1), "unavailableReplicas": int64(1), "readyReplicas": old, "availableReplicas": old,
		"observedGeneration": generation(object),
	})
}

func fillStatus(object, values map[string]any) {
	s := child(object, "status")
	for k, v := range values {
		if v == any(int64(0)) && k != "collisionCount" && k != "numberMisscheduled" && k != "ready" && k != "terminating" {
			delete(s, k)
			continue
		}
		s[k] = v
	}
}

func replicas(object map[string]any) int64 {
	n, _ := nested(object, "spec", "replicas").(int64)
	return n
}

func generation(object map[string]any) int64 {
	n, _ := nested(object, "metadata", "generation").(int64)
	return n
}
