// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// logLines is the number of lines of the provider's log in the report of a failed spec.
const logLines = 60

// report adds the objects and events of the namespace and the end of the provider's log to the report of the spec.
func (s *space) report(ctx context.Context) {
	for _, list := range kinds() {
		for _, o := range s.left(ctx, list) {
			o.SetManagedFields(nil)
			shown, _ := yaml.Marshal(&o)
			AddReportEntry(o.GetKind()+" "+o.GetName(), string(shown))
		}
	}
	AddReportEntry("events", strings.Join(s.events(ctx), "\n"))
	lines := strings.Split(strings.TrimSpace(env.providerLogs()), "\n")
	AddReportEntry("the provider's log ends with", strings.Join(lines[max(0, len(lines)-logLines):], "\n"))
}

// events returns the events of the namespace, as kind, name, type, reason and message.
func (s *space) events(ctx context.Context) []string {
	list := &corev1.EventList{}
	if err := env.controlClient.List(ctx, list, client.InNamespace(s.name)); err != nil {
		return []string{err.Error()}
	}
	var out []string
	for i := range list.Items {
		e := &list.Items[i]
		out = append(out, strings.Join([]string{e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Type, e.Reason, e.Message}, " "))
	}
	return out
}
