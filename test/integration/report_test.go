// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// logLines of the provider are shown when a spec fails.
const logLines = 80

// report what helps to understand a failure.
func (s *space) report(ctx context.Context) {
	s.reportKymas(ctx)
	list := &v1alpha1.ManifestList{}
	if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err == nil {
		for i := range list.Items {
			list.Items[i].ManagedFields = nil
			text, _ := yaml.Marshal(&list.Items[i])
			AddReportEntry("Manifest "+list.Items[i].Name, string(text))
			events, _ := s.events(ctx, list.Items[i].Name)
			AddReportEntry("events of "+list.Items[i].Name, strings.Join(events, "\n"))
		}
	}
	deployments := &appsv1.DeploymentList{}
	if err := env.targetClient.List(ctx, deployments, client.InNamespace(s.name)); err == nil {
		for i := range deployments.Items {
			d := &deployments.Items[i]
			text, _ := yaml.Marshal(map[string]any{"version": d.ResourceVersion, "replicas": d.Spec.Replicas, "status": d.Status})
			AddReportEntry("Deployment "+d.Name, string(text))
		}
	}
	AddReportEntry("the provider's log ends with", env.provider.logTail(logLines))
}

// reportKymas and the ModuleTemplates of the spec.
func (s *space) reportKymas(ctx context.Context) {
	kymas, templates := &v1alpha1.KymaList{}, &v1alpha1.ModuleTemplateList{}
	if err := env.controlClient.List(ctx, kymas, client.InNamespace(s.name)); err == nil {
		for i := range kymas.Items {
			kymas.Items[i].ManagedFields = nil
			text, _ := yaml.Marshal(&kymas.Items[i])
			AddReportEntry("Kyma "+kymas.Items[i].Name, string(text))
			events, _ := s.kymaEvents(ctx, kymas.Items[i].Name)
			AddReportEntry("events of "+kymas.Items[i].Name, strings.Join(events, "\n"))
		}
	}
	if err := env.controlClient.List(ctx, templates, client.MatchingLabels{labelSpec: s.name}); err == nil {
		for i := range templates.Items {
			text, _ := yaml.Marshal(&templates.Items[i].Status)
			AddReportEntry("ModuleTemplate "+templates.Items[i].Name, string(text))
		}
	}
}

// events of a Manifest, as type, reason and message.
func (s *space) events(ctx context.Context, name string) ([]string, error) {
	list := &corev1.EventList{}
	err := env.controlClient.List(ctx, list, client.InNamespace(s.name))
	var out []string
	for i := range list.Items {
		if e := &list.Items[i]; e.InvolvedObject.Kind == v1alpha1.ManifestKind && e.InvolvedObject.Name == name {
			out = append(out, strings.Join([]string{e.Type, e.Reason, e.Message}, " "))
		}
	}
	return out, err
}
