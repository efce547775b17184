// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
)

// RecordRepairs returns a function that writes a line to a log for each pass that repairs drift, with the number of objects and the
// duration of the step. The names of the objects are in the event DriftRepaired.
func RecordRepairs(log logging.Logger) func(m *v1alpha1.Manifest, objects int, took time.Duration) {
	return func(m *v1alpha1.Manifest, objects int, took time.Duration) {
		log.Info("Repaired drift", "namespace", m.Namespace, "name", m.Name, "module", m.Labels[v1alpha1.LabelModuleName],
			"cluster", naming.ConfigOf(m), "objects", objects, "duration", took.Round(time.Millisecond).String())
	}
}
