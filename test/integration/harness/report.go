// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"

	. "github.com/onsi/gomega"

	. "github.com/onsi/ginkgo/v2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// logLines is the number of lines of the provider's log in the report of a failed spec.
const logLines = 80

// report adds the objects of the space, their events and the end of the provider's log to the report of the spec.
func report(ctx context.Context, s *Space) {
	reportKymas(ctx, s)
	list := &v1alpha1.ManifestList{}
	if err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name)); err == nil {
		for i := range list.Items {
			list.Items[i].ManagedFields = nil
			text, _ := yaml.Marshal(&list.Items[i])
			AddReportEntry("Manifest "+list.Items[i].Name, string(text))
			events, _ := Events(ctx, s, list.Items[i].Name)
			AddReportEntry("events of "+list.Items[i].Name, strings.Join(events, "\n"))
		}
	}
	deployments := &appsv1.DeploymentList{}
	if err := Env.TargetClient.List(ctx, deployments, client.InNamespace(s.Name)); err == nil {
		for i := range deployments.Items {
			d := &deployments.Items[i]
			text, _ := yaml.Marshal(map[string]any{"version": d.ResourceVersion, "replicas": d.Spec.Replicas, "status": d.Status})
			AddReportEntry("Deployment "+d.Name, string(text))
		}
	}
	reportJobs(ctx, s)
	AddReportEntry("the provider's log ends with", Env.Provider.logTail(logLines))
}

// reportJobs adds the Jobs and the Pods in the target cluster, whose completion hooks wait for.
func reportJobs(ctx context.Context, s *Space) {
	jobs, pods := &batchv1.JobList{}, &corev1.PodList{}
	if err := Env.TargetClient.List(ctx, jobs, client.InNamespace(s.Name)); err == nil {
		for i := range jobs.Items {
			jobs.Items[i].Spec = batchv1.JobSpec{}
			text, _ := yaml.Marshal(&jobs.Items[i])
			AddReportEntry("Job "+jobs.Items[i].Name, string(text))
		}
	}
	if err := Env.TargetClient.List(ctx, pods, client.InNamespace(s.Name)); err == nil {
		for i := range pods.Items {
			text, _ := yaml.Marshal(map[string]any{"created": pods.Items[i].CreationTimestamp, "status": pods.Items[i].Status})
			AddReportEntry("Pod "+pods.Items[i].Name, string(text))
		}
	}
}

// reportKymas adds the Kymas and ModuleTemplates of the spec to its report.
func reportKymas(ctx context.Context, s *Space) {
	kymas, templates := &v1alpha1.KymaList{}, &v1alpha1.ModuleTemplateList{}
	if err := Env.ControlClient.List(ctx, kymas, client.InNamespace(s.Name)); err == nil {
		for i := range kymas.Items {
			kymas.Items[i].ManagedFields = nil
			text, _ := yaml.Marshal(&kymas.Items[i])
			AddReportEntry("Kyma "+kymas.Items[i].Name, string(text))
			events, _ := s.KymaEvents(ctx, kymas.Items[i].Name)
			AddReportEntry("events of "+kymas.Items[i].Name, strings.Join(events, "\n"))
		}
	}
	if err := Env.ControlClient.List(ctx, templates, client.MatchingLabels{LabelSpec: s.Name}); err == nil {
		for i := range templates.Items {
			text, _ := yaml.Marshal(&templates.Items[i].Status)
			AddReportEntry("ModuleTemplate "+templates.Items[i].Name, string(text))
		}
	}
}

// Events returns the events of a Manifest, as type, reason and message.
func Events(ctx context.Context, s *Space, name string) ([]string, error) {
	list := &corev1.EventList{}
	err := Env.ControlClient.List(ctx, list, client.InNamespace(s.Name))
	var out []string
	for i := range list.Items {
		if e := &list.Items[i]; e.InvolvedObject.Kind == v1alpha1.ManifestKind && e.InvolvedObject.Name == name {
			out = append(out, strings.Join([]string{e.Type, e.Reason, e.Message}, " "))
		}
	}
	return out, err
}

// ExpectNowhere checks that a text occurs neither in a Manifest nor in its events or the log.
func ExpectNowhere(ctx SpecContext, s *Space, m *v1alpha1.Manifest, text string) {
	GinkgoHelper()
	Expect(string(Must(yaml.Marshal(m)))).NotTo(ContainSubstring(text))
	Expect(Events(ctx, s, m.Name)).NotTo(ContainElement(ContainSubstring(text)))
	Expect(Env.Provider.Log()).NotTo(ContainSubstring(text))
}
