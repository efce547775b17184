// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/ready"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/rollback"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

const (
	// maxTests, mostPlanned and mostDrifted objects, mostFields of each of these, and mostCeded fields are shown in the status.
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

// A reporter is the one exit for texts of a pass: it sets the status and its conditions, records events and returns
// errors. Each text is redacted here, and cut only after that.
type reporter struct {
	recorder event.Recorder
	redactor *redact.Redactor
}

// with returns a reporter that redacts more values.
func (r *reporter) with(values []any) *reporter {
	return &reporter{recorder: r.recorder, redactor: r.redactor.With(values...)}
}

// text for the status.
func (r *reporter) text(s string) string {
	return conditions.Truncate(r.redactor.Text(s), conditions.MaxMessage)
}

// error for the managed reconciler, which shows it in a condition, an event and its log.
func (r *reporter) error(err error) error { return r.redactor.Error(err) }

// diff of an observation, for the log of the managed reconciler.
func (r *reporter) diff(o engine.Observation) string { return r.redactor.Text(allDrifts(o.Drift)) }

// observation in the status. Equal observations make equal statuses, so that nothing is written.
func (r *reporter) observation(mr *v1alpha1.Manifest, o engine.Observation) {
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.State(o.State), r.text(o.Message)
	at.Version, at.Installs = r.installs(mr, o.Parts)
	at.Tests = r.tests(&o)
	at.CededFields, at.OmittedCededFields = r.ceded(o.Ceded)
	at.Resources = &v1alpha1.ResourceCounts{Ready: count(o.Ready), Total: count(o.Total)}
	mark(mr, ready.Condition(&o, at))
}

// installs in the status, and the version of the whole: the one that was brought back, the one that the Manifest names, or
// that of the first chart.
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

// Maximum lengths of a version and of the name of an install, in bytes.
const (
	maxVersion = 255
	maxInstall = 53
)

// shortVersion returns a version as the status holds it. That of a chart can be of any length.
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

// plan in the status, with the observation that it is about.
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
		// The version that is wanted is not there yet.
		at.Version = version
	}
}

// planStatus is what the status says about a plan.
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

// ceded returns the first ceded fields, in an order of their own, and how many more there are.
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

// reference to an object.
func (r *reporter) reference(key cluster.ObjectRef) v1alpha1.ObjectReference {
	return v1alpha1.ObjectReference{
		Group:     conditions.Truncate(r.redactor.Text(key.Group), maxTitle),
		Kind:      conditions.Truncate(r.redactor.Text(key.Kind), maxLabel),
		Namespace: conditions.Truncate(r.redactor.Text(key.Namespace), maxLabel),
		Name:      conditions.Truncate(r.redactor.Text(key.Name), maxTitle),
	}
}

// paths of the first fields, and how many more there are.
func (r *reporter) paths(fields []string) (out []string, omitted int32) {
	for _, f := range fields[:min(len(fields), mostFields)] {
		out = append(out, conditions.Truncate(r.redactor.Text(f), maxPath))
	}
	return out, count(len(fields) - len(out))
}

// failure to connect or to observe, in the status. The error is returned for the managed reconciler.
func (r *reporter) failure(mr *v1alpha1.Manifest, err error) error {
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.StateError, r.text(err.Error())
	mark(mr, ready.Not(v1alpha1.ReasonBlocked, at.Message))
	return r.error(err)
}

// verification in the condition Verified. It is set in each pass, because the managed reconciler drops it in those that
// create. A verdict that is nil says nothing.
func (r *reporter) verification(mr *v1alpha1.Manifest, v *verdict) {
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
		r.warn(mr, reasonNotVerified, "applied without a valid signature: "+now.Message)
	}
}

// rollback sets the rollback in the status and the condition RolledBack. It does so in each pass, because the managed
// reconciler drops the condition when it creates the resource.
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

// broughtBack returns an observation of what was brought back: a warning at best, since it is not what is desired.
func broughtBack(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus, o engine.Observation) engine.Observation {
	text := rollback.Text(st, versionOf(&mr.Spec.ForProvider))
	switch {
	case o.State == engine.Ready && o.UpToDate:
		o.Message = text
	case o.State == engine.Error && !o.UpToDate:
		o.Message = "cannot be " + text + "; the rollback: " + o.Message
	case !o.UpToDate:
		o.Message = "is being " + text + "; the rollback: " + o.Message
	default:
		o.Message = text + "; now: " + o.Message
	}
	if o.State == engine.Ready || o.State == engine.Processing {
		o.State = engine.Warning
	}
	o.Works = false
	return o
}

// removal in the status: nothing is in its way. The message of a removal that waits stays, as it answers the same question.
func (r *reporter) removal(mr *v1alpha1.Manifest) {
	at := &mr.Status.AtProvider
	if at.State != v1alpha1.StateDeleting && at.State != v1alpha1.StateWarning {
		at.State, at.Message = v1alpha1.StateDeleting, ""
	}
}

// waiting sets in the status why a removal cannot continue, and what to do if its cluster is gone for good.
func (r *reporter) waiting(mr *v1alpha1.Manifest, can removal, err error) {
	err = transport.Explain(err)
	if can == lost {
		// The message is the same with the annotation and without it, because its time counts.
		err = errors.New(err.Error() + hintAbandon)
	}
	at := &mr.Status.AtProvider
	at.State, at.Message = v1alpha1.StateDeleting, r.text(err.Error())
	mark(mr, xpv2.Deleting().WithMessage(at.Message))
}

// blocked is waiting, and reports whether the Manifest is abandoned.
func (r *reporter) blocked(mr *v1alpha1.Manifest, can removal, err error) bool {
	r.waiting(mr, can, err)
	if can != lost || !abandoned(mr) {
		return false
	}
	r.recordAbandoned(mr, err)
	return true
}

// removalStep in the status: what a removal waits for.
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

// mark a condition, as seen of the generation that this pass is about.
func mark(mr *v1alpha1.Manifest, c xpv2.Condition) {
	conditions.Mark(&mr.Status.ConditionedStatus, mr.Generation, c)
	if c.Type == xpv2.TypeReady {
		mr.Status.ObservedGeneration = mr.Generation
	}
}

// unmark removes a condition.
func unmark(mr *v1alpha1.Manifest, t xpv2.ConditionType) {
	mr.Status.Conditions = slices.DeleteFunc(mr.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == t })
}

func count(n int) int32 {
	return int32(min(n, math.MaxInt32)) //nolint:gosec // Bounded right here.
}
