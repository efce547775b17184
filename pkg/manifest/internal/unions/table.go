// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A union is a struct in which only some fields may be set at the same time.
type union struct {
	// at is the path of the struct. In the path, a list is followed by the name of the field that identifies its items:
	// volumes[name].
	at string
	// discriminator is the field that determines which members may be set. It is empty if exactly one member may be set.
	discriminator string
	// initial is the value that the API server sets if the discriminator is not set.
	initial string
	// members contains the fields of which only some may be set, each with the discriminator value that allows it.
	members map[string]string
}

// table returns the unions of a kind. The suite test/unions checks them, and the unions of all other kinds, against a real API
// server. Kinds are not listed if the API server clears the other member itself (Service), or does not default any member
// (Ingress, HorizontalPodAutoscaler, webhooks, PriorityLevelConfiguration). The handlers and variables of containers are listed
// because other managers may own parts of them, which the error of the API server does not mention.
func table(gk schema.GroupKind) []union {
	spec, ok := podSpecs[gk]
	if !ok {
		return nil
	}
	return slices.Concat(strategies[gk], ofPod(spec))
}

// podSpecs maps kinds to the path of their pod spec.
var podSpecs = map[schema.GroupKind]string{ //nolint:gochecknoglobals // A constant table.
	{Group: "apps", Kind: "DaemonSet"}:   "spec.template.spec",
	{Group: "apps", Kind: "Deployment"}:  "spec.template.spec",
	{Group: "apps", Kind: "ReplicaSet"}:  "spec.template.spec",
	{Group: "apps", Kind: "StatefulSet"}: "spec.template.spec",
	{Group: "batch", Kind: "CronJob"}:    "spec.jobTemplate.spec.template.spec",
	{Kind: "PodTemplate"}:                "template.spec",
	{Kind: "ReplicationController"}:      "spec.template.spec",
}

// strategies maps kinds to the unions that determine how they replace their pods. A DaemonSet is not listed, because its members
// may accompany another type.
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

// ofPod returns the unions of a pod spec.
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

// oneOf returns the members of a union without a discriminator.
func oneOf(names ...string) map[string]string {
	out := make(map[string]string, len(names))
	for _, n := range names {
		out[n] = ""
	}
	return out
}
