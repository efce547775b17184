// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

const (
	reasonRolledBack event.Reason = "RolledBack"
	reasonNotKept    event.Reason = "RollbackImpossible"
)

// atomicPrefix begins what a status says is desired where only the config of an install asks for a rollback. The seconds
// follow that an upgrade is given.
const atomicPrefix = "atomic"

// cutAtomic takes what a status says is desired apart: how long an upgrade is given where only the config of an install
// asks for a rollback, else 0; and the rest.
func cutAtomic(desired string) (time.Duration, string) {
	head, rest, _ := strings.Cut(desired, "-")
	text, ok := strings.CutPrefix(head, atomicPrefix)
	seconds, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 0, desired
	}
	return time.Duration(seconds) * time.Second, rest
}

// A rollback is what is needed to watch an upgrade, and to bring back what was Ready before it.
//
// It is a machine of three states, which are kept in status.atProvider.rollback: none, where what is desired is what was
// Ready last, or nothing was; watching, while that is not so; and rolled back. The status is written before anything is
// done about a new state, so that a process which dies in between goes on where it was.
type rollback struct {
	setOf  func(mr *v1alpha1.Manifest) (*engine.Set, error)
	verify func(ctx context.Context, mr *v1alpha1.Manifest) error
	now    func() time.Time
	// hidden are values of Secrets, which no message may show.
	hidden []any

	// desired is what the Manifest says; nil until it is needed.
	desired *snapshot
}

// policyOf a Manifest; nil for none. An install may ask for one in its config: as with Helm, what is not ready in time
// failed.
func policyOf(mr *v1alpha1.Manifest, atomic time.Duration) *v1alpha1.Rollback {
	if mr.Spec.ForProvider.Rollback != nil {
		return mr.Spec.ForProvider.Rollback
	}
	if st := mr.Status.AtProvider.Rollback; st != nil && atomic == 0 {
		// What was brought back need not have asked for it itself.
		atomic, _ = cutAtomic(st.Desired)
	}
	if atomic == 0 {
		return nil
	}
	return &v1alpha1.Rollback{On: v1alpha1.RollbackOnNotReady, After: metav1.Duration{Duration: atomic}}
}

// look at the set, or at that which was brought back instead of it, which is worked on from then on.
func (e *external) look(ctx context.Context, mr *v1alpha1.Manifest) (engine.Observation, error) {
	if e.rollback == nil {
		return e.engine.Observe(ctx, e.cluster, e.set)
	}
	o, policy, err := e.lookFor(ctx, mr)
	if err != nil || planOnly(mr) {
		return o, err
	}
	if policy == nil || !mayUpdate(mr) {
		reportRollback(mr, nil)
		return o, nil
	}
	good := readSnapshot(o.Good)
	st := e.rollback.begin(mr, good, policy)
	if st == nil || !st.RolledBack {
		reportRollback(mr, st)
		if o.UpToDate {
			e.watch(mr, o, policy)
		}
		return o, nil
	}
	return e.lookBack(ctx, mr, good, st)
}

// lookFor what is desired, and what is asked for where it does not work; nil for nothing.
func (e *external) lookFor(ctx context.Context, mr *v1alpha1.Manifest) (engine.Observation, *v1alpha1.Rollback, error) {
	policy := policyOf(mr, 0)
	if policy != nil {
		if err := e.describe(mr); err != nil {
			return engine.Observation{}, nil, err
		}
	}
	o, err := e.engine.Observe(ctx, e.cluster, e.set)
	if err != nil || policy != nil || o.Atomic == 0 {
		return o, policy, err
	}
	if err := e.describe(mr); err != nil {
		return o, nil, err
	}
	o, err = e.engine.Observe(ctx, e.cluster, e.set)
	return o, policyOf(mr, o.Atomic), err
}

// describe the set, so that the engine keeps it once it is Ready.
func (e *external) describe(mr *v1alpha1.Manifest) error {
	var err error
	if e.rollback.desired, err = snapshotOf(mr, e.set, e.rollback.hidden); err != nil {
		return err
	}
	e.set.Good = e.rollback.desired.data
	return nil
}

// mayUpdate says whether the policies of a Manifest allow to change what is installed.
func mayUpdate(mr *v1alpha1.Manifest) bool {
	p := mr.GetManagementPolicies()
	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionUpdate)
}

// begin says which state the machine is in before anything is done. What is desired is compared with what failed: another
// version, other values or a request to try again end a rollback.
func (r *rollback) begin(mr *v1alpha1.Manifest, good *snapshot, policy *v1alpha1.Rollback) *v1alpha1.RollbackStatus {
	if good == nil || good.digest == r.desired.digest {
		return nil
	}
	was := mr.Status.AtProvider.Rollback
	if was != nil && r.sameDesired(mr, was.Desired) {
		return was.DeepCopy()
	}
	out := &v1alpha1.RollbackStatus{Desired: r.desired.digest, Since: metav1.NewTime(r.now().UTC()).Rfc3339Copy(), Version: good.version()}
	if t := tokenOf(mr); t != "" {
		out.Desired += "-" + t
	}
	if mr.Spec.ForProvider.Rollback == nil {
		out.Desired = fmt.Sprintf("%s%d-%s", atomicPrefix, int(policy.After.Seconds()), out.Desired)
	}
	return out
}

// sameDesired says whether a Manifest still wants what its status says it wanted. An annotation that is gone asks for
// nothing.
func (r *rollback) sameDesired(mr *v1alpha1.Manifest, was string) bool {
	_, was = cutAtomic(was)
	digest, token, _ := strings.Cut(was, "-")
	t := tokenOf(mr)
	return digest == r.desired.digest && (t == "" || t == token)
}

// tokenOf a request to reconcile, which is one to try again, too; empty for none.
func tokenOf(mr *v1alpha1.Manifest) string {
	token := mr.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:4])
}

// watch an upgrade of which is known how it is: roll it back where it is time for that. What is done about it is done in
// the next pass, once the status is written.
func (e *external) watch(mr *v1alpha1.Manifest, o engine.Observation, policy *v1alpha1.Rollback) {
	st := mr.Status.AtProvider.Rollback
	if st == nil || st.RolledBack {
		return
	}
	next := decided(st, policy, o, e.rollback.now())
	mr.Status.AtProvider.Rollback = next
	if next == nil || !next.RolledBack {
		return
	}
	reportRollback(mr, next)
	e.record.Event(mr, event.Warning(reasonRolledBack, errors.New("is being "+backText(mr, next))))
	e.again()
}

// decided is the state of the machine after what was seen of an upgrade that is being watched.
func decided(st *v1alpha1.RollbackStatus, policy *v1alpha1.Rollback, o engine.Observation, now time.Time) *v1alpha1.RollbackStatus {
	if o.State == engine.Ready || o.Works {
		return nil
	}
	out := st.DeepCopy()
	if policy.Trigger() != v1alpha1.RollbackOnNotReady && o.State != engine.Error {
		if st.Message != "" {
			// It did fail, and does not any more.
			out.Message, out.Since = "", metav1.NewTime(now.UTC()).Rfc3339Copy()
		}
		return out
	}
	out.Message = cut(o.Message)
	out.RolledBack = !now.Before(st.Since.Add(policy.After.Duration))
	return out
}

// lookBack at what was brought back.
func (e *external) lookBack(ctx context.Context, mr *v1alpha1.Manifest, good *snapshot, st *v1alpha1.RollbackStatus) (engine.Observation, error) {
	restored := good.restored(mr)
	reportRollback(mr, st)
	if err := e.rollback.verify(ctx, restored); err != nil {
		return engine.Observation{}, errors.Wrap(err, "cannot roll back")
	}
	set, err := e.rollback.setOf(restored)
	if err != nil {
		return engine.Observation{}, errors.Wrap(err, "cannot roll back")
	}
	set.RollingBack, set.Good = true, good.data
	set.Retry, set.Test = e.set.Retry, e.set.Test
	e.set, e.engine = set, hide(e.engine, good.Hidden)
	o, err := e.engine.Observe(ctx, e.cluster, e.set)
	if err != nil {
		return o, err
	}
	return explained(mr, o), nil
}

// looked is what was seen after a step.
func (e *external) looked(mr *v1alpha1.Manifest, o engine.Observation, r engine.Result) engine.Observation {
	if e.rollback == nil || e.rollback.desired == nil {
		return o
	}
	if o.NotKept != "" && len(r.Installed) > 0 {
		e.record.Event(mr, event.Warning(reasonNotKept, errors.New("an upgrade could not be rolled back: "+o.NotKept)))
	}
	if e.set.RollingBack {
		return explained(mr, o)
	}
	policy := policyOf(mr, o.Atomic)
	// What was changed just now cannot be ready yet.
	if policy != nil && (o.State == engine.Ready || o.Works || o.State == engine.Error || r.Created+r.Changed == 0) {
		e.watch(mr, o, policy)
	}
	return o
}

// explained is what was seen of a set that was brought back: at best a warning, as it is not what is desired.
func explained(mr *v1alpha1.Manifest, o engine.Observation) engine.Observation {
	st := mr.Status.AtProvider.Rollback
	if st.Version == "" && o.UpToDate && len(o.Parts) > 0 {
		st.Version = o.Parts[0].Version
	}
	text := backText(mr, st)
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

// backText says what was rolled back to what, and why.
func backText(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus) string {
	from, to := versionOf(&mr.Spec.ForProvider), st.Version
	switch {
	case to == "" || to == from:
		return "rolled back to the last good state as the change did not work: " + st.Message
	case from == "":
		return fmt.Sprintf("rolled back to %s as the upgrade did not work: %s", to, st.Message)
	}
	return fmt.Sprintf("rolled back to %s as %s did not work: %s", to, from, st.Message)
}

// reportRollback in the status. The condition is set in each pass, because the reconciler drops it in those that create.
func reportRollback(mr *v1alpha1.Manifest, st *v1alpha1.RollbackStatus) {
	mr.Status.AtProvider.Rollback = st
	if st == nil || !st.RolledBack {
		mr.Status.Conditions = slices.DeleteFunc(mr.Status.Conditions, func(c xpv2.Condition) bool {
			return c.Type == v1alpha1.TypeRolledBack
		})
		return
	}
	mark(mr, xpv2.Condition{
		Type: v1alpha1.TypeRolledBack, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Reason: v1alpha1.ReasonUpgradeFailed, Message: cut(st.Message),
	})
}

// reportVersion that was brought back instead of the one that is desired.
func reportVersion(mr *v1alpha1.Manifest) {
	if st := mr.Status.AtProvider.Rollback; st != nil && st.RolledBack && st.Version != "" {
		mr.Status.AtProvider.Version = st.Version
	}
}

// untilRollback is how long it is until an upgrade is rolled back that goes on not to work; 0 for never.
func untilRollback(mr *v1alpha1.Manifest, now time.Time) time.Duration {
	st, policy := mr.Status.AtProvider.Rollback, policyOf(mr, 0)
	if st == nil || st.RolledBack || policy == nil {
		return 0
	}
	left := st.Since.Add(policy.After.Duration).Sub(now)
	if left <= 0 {
		// It is no matter of time any more: it does not fail, or is only planned.
		return 0
	}
	return max(left, unsaid)
}
