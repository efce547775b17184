// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// setPodDefaults sets the defaults of a pod or a template.
func setPodDefaults(s *corev1.PodSpec) {
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
	fillPtr(&s.SecurityContext, corev1.PodSecurityContext{})
	fillPtr(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	// The older name of the field always has the same value.
	fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	for i := range s.InitContainers {
		setContainerDefaults(&s.InitContainers[i], s.HostNetwork)
	}
	for i := range s.Containers {
		setContainerDefaults(&s.Containers[i], s.HostNetwork)
	}
	for i := range s.Volumes {
		setVolumeDefaults(&s.Volumes[i].VolumeSource)
	}
}

func setContainerDefaults(c *corev1.Container, hostNetwork bool) {
	policy := corev1.PullIfNotPresent
	name, digest := c.Image, strings.Contains(c.Image, "@")
	if i := strings.LastIndex(name, "/"); i >= 0 {
		name = name[i+1:]
	}
	if _, tag, tagged := strings.Cut(name, ":"); !digest && (!tagged || tag == "latest") {
		policy = corev1.PullAlways
	}
	fill(&c.ImagePullPolicy, policy)
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
		if hostNetwork {
			fill(&c.Ports[i].HostPort, c.Ports[i].ContainerPort)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			fill(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		setProbeDefaults(p)
	}
}

func setProbeDefaults(p *corev1.Probe) {
	if p == nil {
		return
	}
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		fill(&p.HTTPGet.Path, "/")
		fill(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
	if p.GRPC != nil {
		fillPtr(&p.GRPC.Service, "")
	}
}

func setVolumeDefaults(v *corev1.VolumeSource) {
	const mode = 0o644
	switch {
	case *v == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case v.Secret != nil:
		fillPtr(&v.Secret.DefaultMode, mode)
	case v.ConfigMap != nil:
		fillPtr(&v.ConfigMap.DefaultMode, mode)
	case v.DownwardAPI != nil:
		fillPtr(&v.DownwardAPI.DefaultMode, mode)
	case v.Projected != nil:
		fillPtr(&v.Projected.DefaultMode, mode)
	case v.HostPath != nil:
		fillPtr(&v.HostPath.Type, corev1.HostPathUnset)
	}
}
