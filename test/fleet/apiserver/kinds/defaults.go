// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"maps"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fill sets a field that has the zero value.
func fill[T comparable](field *T, value T) {
	if zero := *new(T); *field == zero {
		*field = value
	}
}

// fillPtr sets a field that is nil to a pointer to a value.
func fillPtr[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// SetDefaults sets the defaults of an object of a Go type. Those of rarely used fields are missing; the conformance test covers the others.
func SetDefaults(o any) { //nolint:gocyclo // A case for each kind.
	switch o := o.(type) {
	case *corev1.Pod, *corev1.Namespace, *corev1.Secret, *corev1.Service, *corev1.PersistentVolumeClaim:
		setCoreDefaults(o)
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *appsv1.ReplicaSet:
		setAppsDefaults(o)
	case *batchv1.Job:
		setJobDefaults(o)
	case *batchv1.CronJob:
		fill(&o.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		fillPtr(&o.Spec.Suspend, false)
		fillPtr(&o.Spec.SuccessfulJobsHistoryLimit, 3)
		fillPtr(&o.Spec.FailedJobsHistoryLimit, 1)
		setPodDefaults(&o.Spec.JobTemplate.Spec.Template.Spec)
	case *autoscalingv2.HorizontalPodAutoscaler:
		fillPtr(&o.Spec.MinReplicas, 1)
	case *networkingv1.NetworkPolicy:
		setPolicyDefaults(o)
	case *rbacv1.RoleBinding:
		setBindingDefaults(&o.RoleRef, o.Subjects)
	case *rbacv1.ClusterRoleBinding:
		setBindingDefaults(&o.RoleRef, o.Subjects)
	case *schedulingv1.PriorityClass:
		fillPtr(&o.PreemptionPolicy, corev1.PreemptLowerPriority)
	case *storagev1.StorageClass:
		fillPtr(&o.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		fillPtr(&o.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			w := &o.Webhooks[i]
			setWebhookDefaults(w.Rules, &w.ClientConfig, &w.NamespaceSelector, &w.ObjectSelector)
			fillPtr(&w.FailurePolicy, admissionv1.Fail)
			fillPtr(&w.MatchPolicy, admissionv1.Equivalent)
			fillPtr(&w.TimeoutSeconds, 10)
		}
	case *apiextensionsv1.CustomResourceDefinition:
		apiextensionsv1.SetDefaults_CustomResourceDefinition(o)
	}
}

func setCoreDefaults(o any) {
	switch o := o.(type) {
	case *corev1.Pod:
		setPodDefaults(&o.Spec)
		fillPtr(&o.Spec.EnableServiceLinks, true)
		fill(&o.Status.Phase, corev1.PodPending)
	case *corev1.Namespace:
		if o.Name == "" {
			return
		}
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[corev1.LabelMetadataName] = o.Name
		fill(&o.Status.Phase, corev1.NamespaceActive)
	case *corev1.Secret:
		fill(&o.Type, corev1.SecretTypeOpaque)
		if o.StringData != nil && o.Data == nil {
			o.Data = map[string][]byte{}
		}
		for k, v := range o.StringData {
			o.Data[k] = []byte(v)
		}
		o.StringData = nil
	case *corev1.Service:
		setServiceDefaults(&o.Spec)
	case *corev1.PersistentVolumeClaim:
		fill(&o.Status.Phase, corev1.ClaimPending)
		fillPtr(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
}

func setServiceDefaults(s *corev1.ServiceSpec) {
	fill(&s.SessionAffinity, corev1.ServiceAffinityNone)
	fill(&s.Type, corev1.ServiceTypeClusterIP)
	for i := range s.Ports {
		fill(&s.Ports[i].Protocol, corev1.ProtocolTCP)
		fill(&s.Ports[i].TargetPort, intstr.FromInt32(s.Ports[i].Port))
	}
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	fillPtr(&s.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	if s.Type == corev1.ServiceTypeClusterIP {
		return
	}
	fill(&s.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	if s.Type == corev1.ServiceTypeLoadBalancer {
		fillPtr(&s.AllocateLoadBalancerNodePorts, true)
	}
}

func setAppsDefaults(o any) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		setPodDefaults(&o.Spec.Template.Spec)
		fillPtr(&o.Spec.Replicas, 1)
		fillPtr(&o.Spec.RevisionHistoryLimit, 10)
		fillPtr(&o.Spec.ProgressDeadlineSeconds, 600)
		fill(&o.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
		if o.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
			fillPtr(&o.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
			fillPtr(&o.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
			fillPtr(&o.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
		}
	case *appsv1.StatefulSet:
		setStatefulSetDefaults(&o.Spec)
	case *appsv1.DaemonSet:
		setPodDefaults(&o.Spec.Template.Spec)
		fillPtr(&o.Spec.RevisionHistoryLimit, 10)
		fill(&o.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
		if o.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
			fillPtr(&o.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
			fillPtr(&o.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
			fillPtr(&o.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
	case *appsv1.ReplicaSet:
		setPodDefaults(&o.Spec.Template.Spec)
		fillPtr(&o.Spec.Replicas, 1)
	}
}

func setStatefulSetDefaults(s *appsv1.StatefulSetSpec) {
	setPodDefaults(&s.Template.Spec)
	fill(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		fillPtr(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if s.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && s.UpdateStrategy.RollingUpdate != nil {
		fillPtr(&s.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	fillPtr(&s.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	fill(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fill(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fillPtr(&s.Replicas, 1)
	fillPtr(&s.RevisionHistoryLimit, 10)
}

func setJobDefaults(o *batchv1.Job) {
	setPodDefaults(&o.Spec.Template.Spec)
	if o.Spec.Parallelism == nil {
		fillPtr(&o.Spec.Completions, 1)
	}
	fillPtr(&o.Spec.Parallelism, 1)
	fillPtr(&o.Spec.BackoffLimit, 6)
	fillPtr(&o.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	fillPtr(&o.Spec.Suspend, false)
	fillPtr(&o.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	fillPtr(&o.Spec.ManualSelector, false)
	if len(o.Labels) == 0 && o.Spec.Template.Labels != nil {
		o.Labels = maps.Clone(o.Spec.Template.Labels)
	}
}

func setPolicyDefaults(o *networkingv1.NetworkPolicy) {
	for _, ports := range o.Spec.Ingress {
		for i := range ports.Ports {
			fillPtr(&ports.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for _, ports := range o.Spec.Egress {
		for i := range ports.Ports {
			fillPtr(&ports.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	if len(o.Spec.PolicyTypes) > 0 {
		return
	}
	o.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if len(o.Spec.Egress) > 0 {
		o.Spec.PolicyTypes = append(o.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	}
}

func setBindingDefaults(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	fill(&role.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind != rbacv1.ServiceAccountKind {
			fill(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

func setWebhookDefaults(rules []admissionv1.RuleWithOperations, c *admissionv1.WebhookClientConfig, namespaces, objects **metav1.LabelSelector) {
	for i := range rules {
		fillPtr(&rules[i].Scope, admissionv1.AllScopes)
	}
	if c.Service != nil {
		fillPtr(&c.Service.Port, 443)
	}
	fillPtr(namespaces, metav1.LabelSelector{})
	fillPtr(objects, metav1.LabelSelector{})
}
