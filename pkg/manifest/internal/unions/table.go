// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A union is a struct with fields of which only some may be set at once.
type union struct {
	// at is the path of the struct. A list is followed by the name of the field that identifies its items: volumes[name].
	at string
	// discriminator is the field that says which members may be set; empty where exactly one of them may be.
	discriminator string
	// initial is the value that the API server gives to a discriminator that is not set.
	initial string
	// members are the fields of which only some may be set. Where there is a discriminator, each one is with its value.
	members map[string]string
}

// table of the unions of a kind. test/unions tries them, and those of all other kinds, against a real API server: where it
// clears the other member by itself (Service), or gives a default to none (Ingress, HorizontalPodAutoscaler, webhooks,
// PriorityLevelConfiguration), there is nothing to find. The handlers and variables of containers are here because others
// may own a part of them, which the refusal of the API server does not say.
func table(gk schema.GroupKind) []union {
	spec, ok := podSpecs[gk]
	if !ok {
		return nil
	}
	return slices.Concat(strategies[gk], ofPod(spec))
}

// podSpecs is where kinds have the spec of a pod.
var podSpecs = map[schema.GroupKind]string{ //nolint:gochecknoglobals // A constant table.
	{Group: "apps", Kind: "DaemonSet"}:   "spec.template.spec",
	{Group: "apps", Kind: "Deployment"}:  "spec.template.spec",
	{Group: "apps", Kind: "ReplicaSet"}:  "spec.template.spec",
	{Group: "apps", Kind: "StatefulSet"}: "spec.template.spec",
	{Group: "batch", Kind: "CronJob"}:    "spec.jobTemplate.spec.template.spec",
	{Kind: "PodTemplate"}:                "template.spec",
	{Kind: "ReplicationController"}:      "spec.template.spec",
}

// strategies say how a kind replaces its pods. That of a DaemonSet is not among them: its members may stand beside another
// type.
var strategies = map[schema.GroupKind][]union{ //nolint:gochecknoglobals // A constant table.
	{Group: "apps", Kind: "Deployment"}: {{
		at: "spec.strategy", discriminator: "type", initial: "RollingUpdate",
		members: map[string]string{"rollingUpdate": "RollingUpdate"},
	}},
	{Group: "apps", Kind: "StatefulSet"}: {{
		at: "spec.updateStrategy", discriminator: "type", initial: "RollingUpdate",
		members: map[string]string{"rollingUpdate": "RollingUpdate"},
	}},
}

// ofPod are the unions of the spec of a pod.
func ofPod(spec string) []union {
	out := []union{{at: spec + ".volumes[name]", members: oneOf(
		"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI", "emptyDir",
		"ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image", "iscsi",
		"nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO",
		"secret", "storageos", "vsphereVolume",
	)}}
	for _, containers := range []string{"containers", "initContainers"} {
		c := spec + "." + containers + "[name]"
		out = append(
			out,
			union{at: c + ".env[name]", members: oneOf("value", "valueFrom")},
			union{at: c + ".env[name].valueFrom", members: oneOf(
				"configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef")},
		)
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			out = append(out, union{at: c + "." + probe, members: oneOf("exec", "grpc", "httpGet", "tcpSocket")})
		}
		for _, hook := range []string{"postStart", "preStop"} {
			out = append(out, union{at: c + ".lifecycle." + hook, members: oneOf("exec", "httpGet", "sleep", "tcpSocket")})
		}
	}
	return out
}

// oneOf are members without a discriminator.
func oneOf(names ...string) map[string]string {
	out := make(map[string]string, len(names))
	for _, n := range names {
		out[n] = ""
	}
	return out
}
