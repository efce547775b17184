// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"fmt"
	"strings"
)

// A pair is two variants of one object, with different members of a union. NAME is replaced with a unique name.
type pair struct {
	reason string
	a, b   string
	// toA and toB are the outcomes of a change to this variant.
	toA, toB outcome
}

// An outcome is the result of a change. The zero value means that with both tools, the changed object equals a newly created
// one.
type outcome struct {
	// refused is the reason why the API server rejects the change with both tools. helmRefuses is the reason if it rejects only
	// the change with helm.
	refused, helmRefuses string
	// keeps lists the fields that do not change with both tools.
	keeps []string
}

// workload is an object with a pod. %s is a placeholder in the spec of the pod.
func workload(apiVersion, kind, spec, pod string) string {
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
%s
  template:
    metadata: {labels: {app: NAME}}
    spec:
%s
`, apiVersion, kind, indent(2, spec), indent(6, pod))
}

func indent(by int, text string) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+pad)
}

const plainPod = "containers: [{name: web, image: web:1}]"

func deployment(spec string) string { return workload("apps/v1", "Deployment", spec, plainPod) }
func daemonSet(spec string) string  { return workload("apps/v1", "DaemonSet", spec, plainPod) }
func statefulSet(spec string) string {
	return workload("apps/v1", "StatefulSet", "serviceName: web\n"+spec, plainPod)
}

// volume returns a volume of a Deployment, as an item of the list.
func volume(source string) string {
	return workload("apps/v1", "Deployment", "replicas: 1", plainPod+"\nvolumes: [{name: first, secret: {secretName: x}}, {name: data"+source+"}]")
}

// container returns a container of a Deployment, with fields.
func container(fields string) string {
	return workload("apps/v1", "Deployment", "replicas: 1", "containers: [{name: web, image: web:1, "+fields+"}]")
}

func service(spec string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec:\n" + indent(2, spec)
}

func other(apiVersion, kind, body string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: NAME}\n%s", apiVersion, kind, strings.TrimSpace(body))
}

// workloads contains the pairs of objects with pods.
func workloads() map[string]pair {
	return map[string]pair{
		"Deployment": {
			reason: "The strategy is defaulted as a whole.",
			a:      deployment("replicas: 1"), b: deployment("strategy: {type: Recreate}"),
		},
		"DeploymentType": {
			reason: "The member of a strategy with a type gets defaults.",
			a:      deployment("strategy: {type: RollingUpdate}"), b: deployment("strategy: {type: Recreate}"),
		},
		"DeploymentRolling": {
			reason: "If a part of the member is set, the rest gets defaults.",
			a:      deployment("strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}"), b: deployment("strategy: {type: Recreate}"),
		},
		"DeploymentNull": {
			reason: "Charts can set a member to null.",
			a:      deployment("replicas: 1"), b: deployment("strategy: {type: Recreate, rollingUpdate: null}"),
		},
		"DeploymentRollingNull": {
			reason: "Charts can set a member to null that was set before.",
			a:      deployment("strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}"), b: deployment("strategy: {type: Recreate, rollingUpdate: null}"),
		},
		"VolumeNull": {
			reason: "Charts can set the source of a volume to null.",
			a:      volume(", secret: {secretName: x}, emptyDir: null"), b: volume(", secret: null, emptyDir: {}"),
		},
		"StatefulSet": {
			reason: "The strategy of a StatefulSet gets defaults, too.",
			a:      statefulSet("replicas: 1"), b: statefulSet("updateStrategy: {type: OnDelete}"),
			toB: outcome{helmRefuses: "spec.updateStrategy.rollingUpdate"},
		},
		"DaemonSet": {
			reason: "The API server accepts the member of another type, which has no effect.",
			a:      daemonSet("minReadySeconds: 1"), b: daemonSet("updateStrategy: {type: OnDelete}"),
			toB: outcome{keeps: []string{"spec.updateStrategy.rollingUpdate"}},
		},
		"VolumeConfigMap":  {reason: "A volume without a source is an emptyDir.", a: volume(""), b: volume(", configMap: {name: x}")},
		"VolumeProjected":  {reason: "A volume can change to a projected volume.", a: volume(""), b: volume(", projected: {sources: [{secret: {name: x}}]}")},
		"VolumeEmptyDir":   {reason: "An emptyDir can be set explicitly.", a: volume(", emptyDir: {}"), b: volume(", secret: {secretName: x}")},
		"VolumeMedium":     {reason: "An emptyDir can have fields.", a: volume(", emptyDir: {medium: Memory}"), b: volume(", hostPath: {path: /x}")},
		"VolumeOfTwo":      {reason: "The default modes of both sources are set.", a: volume(", configMap: {name: x}"), b: volume(", secret: {secretName: x}")},
		"VolumeDownward":   {reason: "The version of a field reference gets a default.", a: volume(", downwardAPI: {items: [{path: x, fieldRef: {fieldPath: metadata.name}}]}"), b: volume(", csi: {driver: x}")},
		"VolumeEphemeral":  {reason: "The template of a claim gets defaults.", a: volume(", ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}"), b: volume(", image: {reference: x:1}")},
		"VolumeProjection": {reason: "The sources of a projection are one list.", a: volume(", projected: {sources: [{serviceAccountToken: {path: x}}]}"), b: volume(", projected: {sources: [{secret: {name: x}}]}")},
		"CronJob": {
			reason: "The volumes of a CronJob's pod get defaults.",
			a:      cronJob("volumes: [{name: data}]"), b: cronJob("volumes: [{name: data, configMap: {name: x}}]"),
		},
		"CronJobIndexed": {
			reason: "In a template, a Job does not get defaults.",
			a:      strings.Replace(cronJob(""), "    spec:\n", "    spec:\n      completionMode: Indexed\n      completions: 2\n", 1), b: cronJob(""),
		},
		"Probe":     {reason: "Path and scheme are defaulted.", a: container("livenessProbe: {httpGet: {port: 80}}"), b: container("livenessProbe: {exec: {command: [ok]}}")},
		"ProbeGRPC": {reason: "The service of a gRPC probe gets a default.", a: container("readinessProbe: {grpc: {port: 80}}"), b: container("readinessProbe: {tcpSocket: {port: 80}}")},
		"Lifecycle": {reason: "The handler of a container hook gets the same defaults.", a: container("lifecycle: {preStop: {httpGet: {port: 80}}}"), b: container("lifecycle: {preStop: {sleep: {seconds: 1}}}")},
		"Variable":  {reason: "The version of a reference is defaulted.", a: container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), b: container("env: [{name: A, value: a}]")},
		"Reference": {
			reason: "A nested union gets defaults, too.",
			a:      container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), b: container("env: [{name: A, valueFrom: {configMapKeyRef: {name: x, key: x}}}]"),
		},
		"Empty": {reason: "An empty value counts as no value.", a: container("env: [{name: A}]"), b: container("env: [{name: A, valueFrom: {secretKeyRef: {name: x, key: x}}}]")},
		"Seccomp": {
			reason: "A seccomp profile belongs to its type.",
			a:      container("securityContext: {seccompProfile: {type: Localhost, localhostProfile: x}}"), b: container("securityContext: {seccompProfile: {type: RuntimeDefault}}"),
		},
		"AppArmor": {
			reason: "An AppArmor profile belongs to its type.",
			a:      container("securityContext: {appArmorProfile: {type: Localhost, localhostProfile: x}}"), b: container("securityContext: {appArmorProfile: {type: Unconfined}}"),
		},
		"HostNetwork": {
			reason: "In a template, host ports get no defaults.",
			a:      workload("apps/v1", "Deployment", "replicas: 1", "hostNetwork: true\ncontainers: [{name: web, image: web:1, ports: [{containerPort: 80}]}]"),
			b:      container("ports: [{containerPort: 80}]"),
		},
	}
}

func cronJob(pod string) string {
	return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: NAME}\nspec:\n  schedule: '@daily'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n" +
		indent(10, "restartPolicy: Never\n"+plainPod+"\n"+pod)
}

// others contains the pairs of objects without pods.
func others() map[string]pair {
	const ports = "ports: [{port: 80}]\nselector: {app: x}\n"
	const hpa = "spec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}\n  maxReplicas: 3\n"
	const level = "spec: {type: Limited, limited: {limitResponse: "
	const webhook = "webhooks: [{name: a.example.org, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore, clientConfig: {"
	budget := func(selector string) string {
		return other("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 1, selector: {"+selector+"}}")
	}
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.NAME.example.org}
spec:
  group: NAME.example.org
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
	return map[string]pair{
		"ServiceNodePort":     {reason: "Node ports and policies are removed with the type NodePort.", a: service(ports), b: service(ports + "type: NodePort")},
		"ServiceLoadBalancer": {reason: "Node ports and policies are removed with the type LoadBalancer.", a: service(ports), b: service(ports + "type: LoadBalancer\nexternalTrafficPolicy: Local")},
		"ServiceOutside":      {reason: "The type changes from one that is reachable from outside to another.", a: service(ports + "type: NodePort"), b: service(ports + "type: LoadBalancer\nallocateLoadBalancerNodePorts: false")},
		"ServiceName":         {reason: "Cluster IPs are removed for the type ExternalName.", a: service(ports), b: service(ports + "type: ExternalName\nexternalName: example.org")},
		"ServiceHealth":       {reason: "The port of the health check is removed with the local policy.", a: service(ports + "type: LoadBalancer\nexternalTrafficPolicy: Local"), b: service(ports + "type: NodePort")},
		"ServiceClass":        {reason: "The class of a load balancer is removed with its type.", a: service(ports + "type: LoadBalancer\nloadBalancerClass: example.org/x"), b: service(ports)},
		"ServiceFamilies":     {reason: "IP families are allocated again.", a: service(ports + "ipFamilyPolicy: PreferDualStack"), b: service(ports + "ipFamilyPolicy: SingleStack")},
		"ServiceHeadless": {
			reason: "A cluster IP cannot become None, and None cannot be changed.",
			a:      service(ports), b: service(ports + "clusterIP: None"),
			toB: outcome{refused: "may not change once set"},
		},
		"ServiceAffinity": {reason: "The time of an affinity is defaulted.", a: service(ports + "sessionAffinity: ClientIP"), b: service(ports)},
		"HPA": {
			reason: "The list of metrics gets defaults as a whole.",
			a:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa),
			b:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa+"  metrics: [{type: Pods, pods: {metric: {name: x}, target: {type: AverageValue, averageValue: 1}}}]"),
		},
		"HPATarget": {
			reason: "The targets of metrics get defaults, too.",
			a:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa+"  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]"),
			b:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa+"  metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}]"),
		},
		"HPABehavior": {
			reason: "The fields of the behavior get defaults.",
			a:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa+"  behavior: {scaleDown: {stabilizationWindowSeconds: 1}}"),
			b:      other("autoscaling/v2", "HorizontalPodAutoscaler", hpa+"  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}}"),
		},
		"Ingress": {
			reason: "A backend is either a service or a resource.",
			a:      other("networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}"),
			b:      other("networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {resource: {apiGroup: example.org, kind: X, name: x}}}"),
		},
		"IngressPort": {
			reason: "A port is either a name or a number.",
			a:      other("networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}"),
			b:      other("networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {service: {name: x, port: {name: http}}}}"),
		},
		"NetworkPolicyPeer": {
			reason: "A peer is either an IP block or selectors.",
			a:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}"),
			b:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}"),
		},
		"NetworkPolicyTypes": {
			reason: "Policy types are derived once, from the rules at that time.",
			a:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}}"),
			b:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, egress: [{}]}"),
			toB:    outcome{keeps: []string{"spec.policyTypes"}},
		},
		"NetworkPolicyEgress": {
			reason: "Policy types are also derived in the other direction.",
			a:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, egress: [{}]}"),
			b:      other("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}}"),
			toB:    outcome{keeps: []string{"spec.policyTypes"}},
		},
		"DisruptionBudget": {
			reason: "Exactly one of two fields is set.",
			a:      other("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}"),
			b:      other("policy/v1", "PodDisruptionBudget", "spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}"),
		},
		"Selector": {
			reason: "A selector has labels or expressions.",
			a:      budget("matchLabels: {a: b}"), b: budget("matchExpressions: [{key: a, operator: Exists}]"),
		},
		"PriorityLevel": {
			reason: "The fields of queues get defaults.",
			a:      other("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", level+"{type: Queue, queuing: {}}}}"),
			b:      other("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", level+"{type: Reject}}}"),
		},
		"FlowSchema": {
			reason: "The list of subjects is replaced as a whole.",
			a:      flowSchema("{kind: User, user: {name: x}}"), b: flowSchema("{kind: ServiceAccount, serviceAccount: {name: x, namespace: x}}"),
		},
		"Webhook": {
			reason: "The port of a service gets a default.",
			a:      other("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhook+"service: {name: x, namespace: x}}}]"),
			b:      other("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhook+"url: 'https://example.org'}}]"),
		},
		"CRD": {
			reason: "The conversion of a CRD gets a default.",
			a:      crd, b: crd + "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: x}}}}",
		},
		"CRDConversion": {
			reason: "The port of the conversion service gets a default.",
			a:      crd + "  conversion: {strategy: None}",
			b:      crd + "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: x, namespace: x}}}}",
		},
		"APIService": {
			reason: "An APIService has a service, or is served locally.",
			a:      apiService("service: {name: x, namespace: x}, insecureSkipTLSVerify: true"), b: apiService("service: {name: x, namespace: x}, caBundle: eA=="),
		},
		"PolicyBinding": {
			reason: "A parameter is selected by name or by labels.",
			a:      policyBinding("name: x"), b: policyBinding("selector: {matchLabels: {a: b}}"),
		},
		"Volume": {
			reason: "The source of a persistent volume cannot change.",
			a:      persistentVolume("hostPath: {path: /x}"), b: persistentVolume("nfs: {path: /x, server: x}"),
			toA: outcome{refused: "spec.persistentvolumesource"}, toB: outcome{refused: "spec.persistentvolumesource"},
		},
	}
}

func flowSchema(subject string) string {
	return other("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "spec: {priorityLevelConfiguration: {name: global-default}, rules: [{subjects: ["+subject+
		"], nonResourceRules: [{verbs: [get], nonResourceURLs: [/x]}]}]}")
}

func apiService(spec string) string {
	return "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.NAME.example.org}\n" +
		"spec: {group: NAME.example.org, version: v1, groupPriorityMinimum: 1, versionPriority: 1, " + spec + "}"
}

func policyBinding(param string) string {
	return other("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
		"spec: {policyName: x, validationActions: [Audit], paramRef: {parameterNotFoundAction: Allow, "+param+"}}")
}

func persistentVolume(source string) string {
	return other("v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], "+source+"}")
}
