// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// Reasons of events about drift.
const (
	reasonDriftRepaired event.Reason = "DriftRepaired"
	reasonDriftDetected event.Reason = "DriftDetected"
	reasonYielded       event.Reason = "FieldYielded"
	reasonFieldContest  event.Reason = "FieldContested"
)

// driftPolicy of a Manifest.
func driftPolicy(p v1alpha1.DriftPolicy) engine.DriftPolicy {
	switch p {
	case v1alpha1.DriftPolicyReport:
		return engine.DriftReport
	case v1alpha1.DriftPolicyIgnore:
		return engine.DriftIgnore
	case v1alpha1.DriftPolicyRepair:
	}
	return engine.DriftRepair
}

// reportDrift that is left as it is, in the status, and in an event when it is another one than before. It must come
// before report. What the status said before survives a restart, and so does not repeat the event.
func (e *external) reportDrift(mr *v1alpha1.Manifest, o *engine.Observation) {
	if e.set.Drift != engine.DriftReport || len(o.Drift) == 0 {
		return
	}
	at, now := &mr.Status.AtProvider, cut(drifts(o.Drift))
	if at.LastDrift == now && at.State != v1alpha1.StateReady {
		return
	}
	at.LastDrift = now
	e.record.Event(mr, event.Warning(reasonDriftDetected, errors.New("Found drift, and leave it: "+now)))
}

// tellDrift that was repaired, or left to others for good reasons.
func (e *external) tellDrift(mr *v1alpha1.Manifest, r engine.Result) {
	if len(r.Repaired) > 0 {
		mr.Status.AtProvider.LastDrift = cut(drifts(r.Repaired))
		e.record.Event(mr, event.Normal(reasonDriftRepaired, "Repaired drift: "+drifts(r.Repaired)))
	}
	var yielded, contested []string
	for _, y := range r.Yielded {
		if y.Fought {
			contested = append(contested, y.String())
			continue
		}
		yielded = append(yielded, y.String())
	}
	if len(yielded) > 0 {
		e.record.Event(mr, event.Normal(reasonYielded, list(yielded)))
	}
	if len(contested) > 0 {
		e.record.Event(mr, event.Warning(reasonFieldContest, errors.New(list(contested))))
	}
}
