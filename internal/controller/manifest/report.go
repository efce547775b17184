// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/ready"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

const (
	// maxTests, mostPlanned and mostDrifted objects, mostFields fields of each object, and mostCeded fields are shown in the status.
	maxTests    = 64
	mostPlanned = 64
	mostDrifted = 32
	mostFields  = 16
	mostCeded   = 32
	// maxPath, maxTitle, maxLabel and maxManager are the maximum lengths of the path of a field, of the name of an object, of its
	// kind and namespace, and of the name of a field manager, in bytes.
	maxPath    = 512
	maxTitle   = 253
	maxLabel   = 63
	maxManager = 128
)

// A reporter emits all texts of a pass: it sets the status and its conditions, records events and returns errors. It redacts
// each text before it truncates it.
type reporter struct {
	recorder event.Recorder
	redactor *redact.Redactor
}

// with returns a reporter that also redacts more values.
func (r *reporter) with(values []any) *reporter {
	return &reporter{recorder: r.recorder, redactor: r.redactor.With(values...)}
}

// text redacts and truncates a text for the status.
func (r *reporter) text(s string) string {
	return conditions.Truncate(r.redactor.Text(s), conditions.MaxMessage)
}

// error redacts an error for the managed reconciler, which shows it in a condition, an event and its log.
func (r *reporter) error(err error) error { return r.redactor.Error(err) }

// diff returns the redacted drift of an observation, for the log of the managed reconciler.
func (r *reporter) diff(o engine.Observation) string { return r.redactor.Text(allDrifts(o.Drift)) }

// observation sets an observation in the status. Equal observations result in equal statuses, so that nothing is written.
func (r *reporter) observation(mr *v1alpha1.Manifest, o engine.Observation) {
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.State(o.State), r.text(messageOf(&o))
	at.Version, at.Installs = r.installs(mr, o.Parts)
	at.Tests = r.tests(&o)
	at.CededFields, at.OmittedCededFields = r.ceded(o.Ceded)
	at.Resources = &v1alpha1.ResourceCounts{Ready: count(o.Ready), Total: count(o.Total)}
	// A redacted UID would identify a different cluster.
	if uid := o.ClusterUID; o.Exists && uid != "" && r.redactor.Text(uid) == uid {
		at.ClusterUID = uid
	}
	c, stalled := ready.Condition(&o, at)
	markReady(mr, c, stalled)
}

// messageOf returns the message of an observation, including the kinds that are not watched.
func messageOf(o *engine.Observation) string {
	if o.Message == "" {
		return strings.Join(o.Unwatched, "; ")
	}
	return strings.Join(append([]string{o.Message}, o.Unwatched...), "; ")
}

// installs returns the statuses of installs, and the version of the whole bundle: the version that was rolled back to, the
// version that the Manifest names, or the version of the first chart, in this order.
func (r *reporter) installs(mr *v1alpha1.Manifest, parts []engine.PartState) (version string, out []v1alpha1.InstallStatus) {
	version = mr.Spec.ForProvider.Version
	for i := range parts {
		p := &parts[i]
		in := v1alpha1.InstallStatus{Name: p.Title(), State: v1alpha1.State(p.State), Version: shortVersion(p.Version), Message: r.text(p.Message)}
		if version == "" {
			version = in.Version
		}
		out = append(out, in)
	}
	if st := mr.Status.AtProvider.Rollback; st != nil && st.RolledBack && st.Version != "" {
		version = st.Version
	}
	return version, out
}

// These are the maximum lengths of a version and of the name of an install, in bytes.
const (
	maxVersion = 255
	maxInstall = 53
)

// shortVersion truncates a version for the status, because the version of a chart can have any length.
func shortVersion(v string) string { return conditions.Truncate(v, maxVersion) }

// tests returns the status of the most recently requested chart tests, or nil if none were requested.
func (r *reporter) tests(o *engine.Observation) *v1alpha1.TestsStatus {
	if o.TestToken == "" {
		return nil
	}
	out := &v1alpha1.TestsStatus{Token: conditions.Truncate(o.TestToken, conditions.MaxMessage), State: v1alpha1.StateReady}
	for i := range o.Tests {
		t := &o.Tests[i]
		switch {
		case t.State == engine.Error:
			out.State = v1alpha1.StateError
		case t.State == engine.Processing && out.State == v1alpha1.StateReady:
			out.State = v1alpha1.StateProcessing
		}
		if len(out.Tests) < maxTests {
			test := r.reference(t.Key)
			out.Tests = append(out.Tests, v1alpha1.TestStatus{
				Install: conditions.Truncate(t.Install, maxInstall), Kind: test.Kind, Namespace: test.Namespace, Name: test.Name,
				State: v1alpha1.State(t.State), Message: r.text(t.Message),
			})
		}
	}
	return out
}

// plan sets a plan in the status, with the observation that belongs to it.
func (r *reporter) plan(mr *v1alpha1.Manifest, o engine.Observation, p *engine.Plan) {
	at := &mr.Status.AtProvider
	before, version := at.Plan, at.Version
	at.Plan = r.planStatus(p)
	at.Plan.ObservedGeneration = mr.Generation
	r.observation(mr, planned(o, p))
	if before == nil || !samePlan(before, at.Plan) {
		r.recordPlan(mr, p)
	}
	switch {
	case !o.Exists:
		at.Installs, at.Resources, at.Version = nil, nil, ""
	case !p.Empty():
		// The desired version is not installed yet.
		at.Version = version
	}
}

// planStatus returns the status of a plan.
func (r *reporter) planStatus(p *engine.Plan) *v1alpha1.PlanStatus {
	out := &v1alpha1.PlanStatus{}
	out.Create, out.Change, out.Prune = countChanges(p)
	for i := range p.Changes {
		c := &p.Changes[i]
		if len(out.Objects) < mostPlanned {
			fields, omitted := r.paths(c.Fields)
			out.Objects = append(out.Objects, v1alpha1.PlannedObject{
				Action: string(c.Action), ObjectReference: r.reference(c.Key), Fields: fields, OmittedFields: omitted,
			})
		}
	}
	out.Message = r.text(strings.Join(append(slices.Clone(p.Problems), p.Notes...), "; "))
	out.Problems = count(len(p.Problems))
	return out
}

// ceded returns the first ceded fields in a stable order, and the number of omitted ones.
func (r *reporter) ceded(fields []engine.CededField) (out []v1alpha1.CededField, omitted int32) {
	fields = slices.SortedFunc(slices.Values(fields), func(a, b engine.CededField) int { return strings.Compare(a.String(), b.String()) })
	for _, f := range fields[:min(len(fields), mostCeded)] {
		cause := v1alpha1.CededByConvention
		if f.Contended {
			cause = v1alpha1.CededAfterConflict
		}
		out = append(out, v1alpha1.CededField{
			ObjectReference: r.reference(f.Key), Field: conditions.Truncate(r.redactor.Text(f.Field), maxPath),
			Manager: conditions.Truncate(r.redactor.Text(f.Manager), maxManager), Cause: cause,
		})
	}
	return out, count(len(fields) - len(out))
}

// reference returns a reference to an object, redacted and truncated.
func (r *reporter) reference(key cluster.ObjectRef) v1alpha1.ObjectReference {
	return v1alpha1.ObjectReference{
		Group:     conditions.Truncate(r.redactor.Text(key.Group), maxTitle),
		Kind:      conditions.Truncate(r.redactor.Text(key.Kind), maxLabel),
		Namespace: conditions.Truncate(r.redactor.Text(key.Namespace), maxLabel),
		Name:      conditions.Truncate(r.redactor.Text(key.Name), maxTitle),
	}
}

// paths returns the paths of the first fields, and the number of omitted ones.
func (r *reporter) paths(fields []string) (out []string, omitted int32) {
	for _, f := range fields[:min(len(fields), mostFields)] {
		out = append(out, conditions.Truncate(r.redactor.Text(f), maxPath))
	}
	return out, count(len(fields) - len(out))
}

// failure sets an error of Connect or Observe in the status, and returns it for the managed reconciler.
func (r *reporter) failure(mr *v1alpha1.Manifest, err error) error {
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.StateError, r.text(err.Error())
	if isBusy(err) {
		at.State = v1alpha1.StateProcessing
	}
	markReady(mr, ready.Not(reasonFor(err, v1alpha1.ReasonBlocked), at.Message), ready.IsFinal(err))
	return r.error(err)
}

// verification sets the condition Verified, or removes it if no signatures are required. It does so in each pass, because the
// managed reconciler drops the condition in passes that create. A nil result changes nothing.
func (r *reporter) verification(mr *v1alpha1.Manifest, v *verification) {
	switch {
	case v == nil:
		return
	case v.off():
		unmark(mr, v1alpha1.TypeVerified)
		return
	}
	before, now := mr.GetCondition(v1alpha1.TypeVerified), v.condition()
	now.Message = r.text(now.Message)
	mark(mr, now)
	// The pass that creates records no event, since the next one cannot know of it.
	if v.err != nil && v.refusal() == nil && meta.GetExternalName(mr) != "" && (before.Status != now.Status || before.Message != now.Message) {
		r.warn(mr, reasonNotVerified, "Applied without a valid signature: "+now.Message)
	}
}

// rollback sets the rollback in the status, and the condition RolledBack. It does so in each pass, because the managed
// reconciler drops the condition in passes that create.
func (r *reporter) rollback(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus) {
	mr.Status.AtProvider.Rollback = st
	if st == nil || !st.RolledBack {
		unmark(mr, v1alpha1.TypeRolledBack)
		return
	}
	mark(mr, xpv2.Condition{
		Type: v1alpha1.TypeRolledBack, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Reason: v1alpha1.ReasonUpgradeFailed, Message: r.text(st.Message),
	})
}

// broughtBack returns the observation of a checkpoint that was rolled back to. Its state is Warning at best, because the
// checkpoint is not the desired content.
func broughtBack(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus, o engine.Observation) engine.Observation {
	text := rollback.Text(st, checkpoint.VersionOf(&mr.Spec.ForProvider))
	switch {
	case o.State == engine.Ready && o.UpToDate:
		o.Message = text
	case o.State == engine.Error && !o.UpToDate:
		o.Message = "cannot be " + text + "; rollback: " + o.Message
	case !o.UpToDate:
		o.Message = "is being " + text + "; rollback: " + o.Message
	default:
		o.Message = text + "; current state: " + o.Message
	}
	if o.State == engine.Ready || o.State == engine.Processing {
		o.State = engine.Warning
	}
	o.Works = false
	return o
}

// removal sets the state of a removal that can continue. It keeps the message of a removal that waits, because it still
// describes what the removal is waiting for.
func (r *reporter) removal(mr *v1alpha1.Manifest) {
	at := &mr.Status.AtProvider
	if at.State != v1alpha1.StateDeleting && at.State != v1alpha1.StateWarning {
		at.State, at.Message = v1alpha1.StateDeleting, ""
	}
}

// waiting sets in the status why a removal cannot continue, and what to do if its cluster no longer exists.
func (r *reporter) waiting(mr *v1alpha1.Manifest, can removal, err error) {
	err = transport.Explain(err)
	message := err.Error()
	// The message is the same with and without the annotation, because its transition time counts.
	switch can {
	case lost:
		message += hintAbandon
	case denied:
		message += hintDenied
	case removable, needless, blocked:
	}
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.StateDeleting, r.text(message)
	c := xpv2.Deleting().WithMessage(at.Message)
	c.Reason = reasonFor(err, c.Reason)
	markReady(mr, c, false)
}

// blocked updates the status like waiting, and reports whether the Manifest is abandoned.
func (r *reporter) blocked(mr *v1alpha1.Manifest, can removal, err error) bool {
	r.waiting(mr, can, err)
	if can != lost && can != denied || !abandoned(mr, can) {
		return false
	}
	r.recordAbandoned(mr, err)
	return true
}

// removalStep sets in the status what a removal waits for.
func (r *reporter) removalStep(mr *v1alpha1.Manifest, step engine.Removal) {
	if step.Gone {
		return
	}
	at, message := &mr.Status.AtProvider, r.text(step.Message)
	if step.State == engine.Warning && at.Message != message {
		r.warn(mr, reasonRemoval, message)
	}
	at.State, at.Message = v1alpha1.State(step.State), message
}

// mark sets a condition for the generation of this pass.
func mark(mr *v1alpha1.Manifest, c xpv2.Condition) {
	conditions.Mark(&mr.Status.ConditionedStatus, mr.Generation, c)
}

// markReady sets the condition Ready, and those of a stalled Manifest, for the generation of this pass.
func markReady(mr *v1alpha1.Manifest, c xpv2.Condition, stalled bool) {
	conditions.Reserve(&mr.Status.ConditionedStatus, mr.Generation)
	conditions.MarkReady(&mr.Status.ConditionedStatus, mr.Generation, c, stalled)
	mr.Status.ObservedGeneration = mr.Generation
}

// unmark removes a condition.
func unmark(mr *v1alpha1.Manifest, t xpv2.ConditionType) {
	mr.Status.Conditions = slices.DeleteFunc(mr.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == t })
}

func count(n int) int32 {
	return int32(min(n, math.MaxInt32)) //nolint:gosec // Bounded right here.
}
