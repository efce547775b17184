// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// These are the reasons of events.
const (
	reasonInstalled      event.Reason = "Installed"
	reasonPruned         event.Reason = "Pruned"
	reasonRecreated      event.Reason = "Recreated"
	reasonKept           event.Reason = "Kept"
	reasonShared         event.Reason = "CRDShared"
	reasonForced         event.Reason = "RemovalForced"
	reasonLeft           event.Reason = "LeftBehind"
	reasonRebuilt        event.Reason = "InventoryRebuilt"
	reasonReleased       event.Reason = "ResourceReleased"
	reasonRemoval        event.Reason = "RemovalBlocked"
	reasonAbandoned      event.Reason = "Abandoned"
	reasonNotVerified    event.Reason = "NotVerified"
	reasonDriftRepaired  event.Reason = "DriftRepaired"
	reasonDriftDetected  event.Reason = "DriftDetected"
	reasonCeded          event.Reason = "FieldCeded"
	reasonFieldContest   event.Reason = "FieldContested"
	reasonHooksSucceeded event.Reason = "HooksSucceeded"
	reasonHookFailed     event.Reason = "HookFailed"
	reasonTestsSucceeded event.Reason = "TestsSucceeded"
	reasonTestsFailed    event.Reason = "TestsFailed"
	reasonRolledBack     event.Reason = "RolledBack"
	reasonNotKept        event.Reason = "RollbackImpossible"
	reasonPlanned        event.Reason = "Planned"
)

// note records a normal event.
func (r *reporter) note(mr *v1alpha1.Manifest, reason event.Reason, message string) {
	r.recorder.Event(mr, event.Normal(reason, r.redactor.Text(message)))
}

// warn records a warning.
func (r *reporter) warn(mr *v1alpha1.Manifest, reason event.Reason, message string) {
	r.recorder.Event(mr, event.Warning(reason, errors.New(r.redactor.Text(message))))
}

// recordApply records the changes of a step.
func (r *reporter) recordApply(mr *v1alpha1.Manifest, res engine.Result) {
	if len(res.Recreated) > 0 {
		r.note(mr, reasonRecreated, "Deleted objects to recreate them, because immutable fields changed: "+names(res.Recreated))
	}
	r.recordStays(mr, res.Kept, res.KeptAdopted, res.HandedOver, res.LeftBehind, res.Rebuilt)
	if len(res.Shared) > 0 {
		r.note(mr, reasonShared, conditions.List(conditions.Lines(res.Shared)))
	}
	if len(res.Installed) > 0 {
		r.note(mr, reasonInstalled, "Installed "+strings.Join(res.Installed, ", "))
	}
	r.recordRepair(mr, res)
	if len(res.Pruned) > 0 {
		r.note(mr, reasonPruned, "Pruned objects that the module no longer contains: "+names(res.Pruned))
	}
	if len(res.Released) > 0 {
		r.warn(mr, reasonReleased, "The name or namespace of the custom resource changed: "+
			conditions.List(conditions.Lines(res.Released))+"; delete the previous one if not needed")
	}
	r.recordHookFailures(mr, res.HookFailures)
	r.recordHooks(mr, res)
}

// recordRemoval records the objects that a step of the removal did not delete, and those that it deleted although others created them.
func (r *reporter) recordRemoval(mr *v1alpha1.Manifest, res engine.Removal) {
	r.recordStays(mr, res.Kept, res.KeptAdopted, res.HandedOver, res.LeftBehind, res.Rebuilt)
	r.recordHookFailures(mr, res.HookFailures)
	if len(res.Forced) > 0 {
		r.warn(mr, reasonForced, "Deleted remaining custom resources, as requested by annotation "+v1alpha1.AnnotationForceRemoval+": "+names(res.Forced))
	}
}

// recordHookFailures records failed hooks of removed installs. Their failure did not stop the removal.
func (r *reporter) recordHookFailures(mr *v1alpha1.Manifest, failures []string) {
	if len(failures) > 0 {
		r.warn(mr, reasonHookFailed, strings.Join(failures, "; "))
	}
}

// recordStays records the objects that are not deleted, with the reasons, and whether the inventory of all objects was lost.
func (r *reporter) recordStays(
	mr *v1alpha1.Manifest, kept, adopted []cluster.ObjectRef, used []engine.HandedOver, left []engine.LeftBehind, rebuilt *engine.Rebuilt,
) {
	if rebuilt != nil {
		r.warn(mr, reasonRebuilt, rebuilt.String())
	}
	if len(kept) > 0 {
		r.note(mr, reasonKept, "Kept objects because of annotation helm.sh/resource-policy; the module no longer manages them: "+names(kept))
	}
	if len(adopted) > 0 {
		r.note(mr, reasonKept, "Kept objects that existed, or may have existed, before the module adopted them: "+names(adopted))
	}
	if len(used) > 0 {
		r.note(mr, reasonKept, "Kept CRDs that other Manifests use: "+conditions.List(conditions.Lines(used)))
	}
	if len(left) > 0 {
		r.warn(mr, reasonLeft, "Left objects in the cluster that were replaced or now belong to another owner: "+conditions.List(conditions.Lines(left)))
	}
}

// recordDrift records drift that the policy does not repair, if it differs from that in the status. Call it before observation.
func (r *reporter) recordDrift(mr *v1alpha1.Manifest, policy engine.DriftPolicy, drift []engine.Drift) {
	if policy != engine.DriftReport || len(drift) == 0 {
		return
	}
	at, now := &mr.Status.AtProvider, r.driftStatus(drift)
	if sameDrift(at.Drift, now) && at.State != v1alpha1.StateReady {
		return
	}
	at.Drift = now
	r.warn(mr, reasonDriftDetected, "Drift detected, but not repaired (spec.forProvider.drift is Report): "+r.text(drifts(drift)))
}

// recordRepair records repaired drift as an event and in the status, and the fields that are left to other field managers.
func (r *reporter) recordRepair(mr *v1alpha1.Manifest, res engine.Result) {
	if len(res.Repaired) > 0 {
		if at, now := &mr.Status.AtProvider, r.driftStatus(res.Repaired); !sameDrift(at.Drift, now) {
			at.Drift = now
		}
		r.note(mr, reasonDriftRepaired, "Repaired drift: "+drifts(res.Repaired))
	}
	var ceded, contested []string
	for _, c := range res.Ceded {
		if c.Contended {
			contested = append(contested, c.String())
			continue
		}
		ceded = append(ceded, c.String())
	}
	if len(ceded) > 0 {
		r.note(mr, reasonCeded, conditions.List(ceded))
	}
	if len(contested) > 0 {
		r.warn(mr, reasonFieldContest, conditions.List(contested))
	}
}

// recordHooks records hooks that succeeded, and the end of tests. A hook that fails is an error of its install.
func (r *reporter) recordHooks(mr *v1alpha1.Manifest, res engine.Result) {
	if res.HooksRun > 0 {
		r.note(mr, reasonHooksSucceeded, fmt.Sprintf("%s of %s succeeded", conditions.Count(res.HooksRun, "hook"), strings.Join(res.Installed, ", ")))
	}
	if res.Tested == nil {
		return
	}
	if failed := failedTests(res.Tested); len(failed) > 0 {
		r.warn(mr, reasonTestsFailed, fmt.Sprintf("%d of %s failed: %s", len(failed), conditions.Count(len(res.Tested), "test"), conditions.List(failed)))
		return
	}
	r.note(mr, reasonTestsSucceeded, conditions.Count(len(res.Tested), "test")+" succeeded")
}

// recordRollback records that an upgrade is rolled back.
func (r *reporter) recordRollback(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus) {
	r.warn(mr, reasonRolledBack, "Upgrade is being "+rollback.Text(st, checkpoint.VersionOf(&mr.Spec.ForProvider)))
}

// recordPlan records the counts of a plan, and its first objects.
func (r *reporter) recordPlan(mr *v1alpha1.Manifest, p *engine.Plan) {
	text := planCounts(p)
	lines := make([]string, 0, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		line := strings.ToLower(string(c.Action)) + " " + c.Key.String()
		if len(c.Fields) > 0 {
			line += " at " + strings.Join(firstFields(c.Fields), ", ")
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		text += ": " + conditions.JoinFirst(lines)
	}
	if len(p.Problems) > 0 {
		r.warn(mr, reasonPlanned, r.text("problems: "+conditions.List(slices.Clone(p.Problems))+"; "+text))
		return
	}
	r.note(mr, reasonPlanned, r.text(text))
}

// recordNotKept records that the content that was just installed leaves no checkpoint.
func (r *reporter) recordNotKept(mr *v1alpha1.Manifest, res engine.Result, o engine.Observation) {
	if o.NotKept != "" && len(res.Installed) > 0 {
		r.warn(mr, reasonNotKept, "The next upgrade cannot be rolled back: "+o.NotKept)
	}
}

// recordAbandoned records what a Manifest leaves in a cluster that no longer exists.
func (r *reporter) recordAbandoned(mr *v1alpha1.Manifest, why error) {
	if released(mr) {
		r.warn(mr, reasonAbandoned, r.text("Left objects behind in the cluster of "+naming.ConfigOf(mr)+": "+leftBehind(mr)+" ("+transport.Explain(why).Error()+")"))
	}
}

// recordOther records that the inventory that a Manifest names belongs to another owner and is kept.
func (r *reporter) recordOther(mr *v1alpha1.Manifest, other *engine.OwnedError) {
	if released(mr) {
		r.warn(mr, reasonLeft, fmt.Sprintf("Removed no objects: %s is the inventory of %s", other.Inventory, other.Holder()))
	}
}

// recordMoved records that a Manifest that is being deleted leaves objects behind in its previous cluster, because an
// annotation moved it to another cluster. Call it once the inventory no longer exists.
func (r *reporter) recordMoved(mr *v1alpha1.Manifest) {
	was, meant := mr.Status.AtProvider.ClusterUID, mr.Annotations[v1alpha1.AnnotationClusterChanged]
	if was == "" || meant == "" || was == meant || !released(mr) {
		return
	}
	r.warn(mr, reasonLeft, r.text(fmt.Sprintf("Removed no objects from the cluster with UID %s, because annotation %s "+
		"selects the cluster with UID %s, which has no inventory of this Manifest; left behind: %s", was, v1alpha1.AnnotationClusterChanged, meant, leftBehind(mr))))
}

// released reports whether a deleted Manifest is gone after this pass. Otherwise, each pass would repeat its events.
func released(mr *v1alpha1.Manifest) bool { return len(mr.Finalizers) <= 1 }

func failedTests(in []engine.TestState) []string {
	var out []string
	for i := range in {
		if t := &in[i]; t.State == engine.Error {
			out = append(out, fmt.Sprintf("%s %s: %s", t.Install, t.Key, t.Message))
		}
	}
	return out
}

// allDrifts returns all drift in one line, in the order of the bundle.
func allDrifts(in []engine.Drift) string { return strings.Join(conditions.Lines(in), "; ") }

// drifts returns drift in one line, which names only the first objects.
func drifts(in []engine.Drift) string { return conditions.List(conditions.Lines(in)) }

// names returns the names of the first objects in one line.
func names(in []cluster.ObjectRef) string { return conditions.List(conditions.Lines(in)) }
