// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

const (
	// cacheDelay is the time that the cache needs to receive the write of another client.
	cacheDelay = 250 * time.Millisecond
	// checkEvery is the longest time between two passes during a rollout. Whether a cluster can be reached causes no event.
	checkEvery = 10 * time.Second
)

type reconciler struct {
	client client.Client
	fleet  fleet
	spread time.Duration
	now    func() time.Time
	record event.Recorder
	log    logging.Logger

	patience patience
}

// Reconcile moves the rollouts of a ModuleReleaseMeta on. It writes the status only if it differs.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := &v1alpha1.ModuleReleaseMeta{}
	if err := r.client.Get(ctx, req.NamespacedName, m); err != nil {
		r.patience.forget(req.Name)
		return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot get ModuleReleaseMeta")
	}
	if meta.WasDeleted(m) {
		return reconcile.Result{}, nil
	}
	before := m.DeepCopy()
	again, err := r.reconcile(ctx, m)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !equality.Semantic.DeepEqual(before.Status, m.Status) {
		err := r.client.Status().Update(ctx, m)
		if kerrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: cacheDelay}, nil
		}
		if err != nil {
			return reconcile.Result{}, errors.Wrap(notfound.Ignore(err), "cannot update the status of ModuleReleaseMeta")
		}
		r.report(before, m)
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// report records events and log lines about what has changed.
func (r *reconciler) report(before, m *v1alpha1.ModuleReleaseMeta) {
	for _, e := range eventsOf(before, m) {
		r.record.Event(m, e)
		r.log.Info("Rollout", "release", m.Name, "module", m.Spec.ModuleName, "event", string(e.Reason), "message", e.Message)
	}
}

// A target is one version that spreads: that of a channel, or a mandatory one.
type target struct {
	channel string
	release v1alpha1.Release
	// policy is nil if the release has none.
	policy *v1alpha1.RolloutPolicySpec
}

// targetsOf returns the versions that a ModuleReleaseMeta releases, sorted by channel.
func targetsOf(m *v1alpha1.ModuleReleaseMeta) []target {
	var out []target
	for i := range m.Spec.Channels {
		out = append(out, target{channel: m.Spec.Channels[i].Channel, release: m.Spec.Channels[i].Release})
	}
	if m.Spec.Mandatory != nil {
		out = append(out, target{channel: v1alpha1.MandatoryChannel, release: *m.Spec.Mandatory})
	}
	slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.channel, b.channel) })
	return out
}

// reconcile updates the status in memory, and returns how long it stays the same if nothing changes, or 0.
func (r *reconciler) reconcile(ctx context.Context, m *v1alpha1.ModuleReleaseMeta) (time.Duration, error) {
	problem, err := r.check(ctx, m)
	if err != nil {
		return 0, err
	}
	// A version or a policy that is missing can appear at any time, for example because a GitOps tool applies it later.
	stalled := problem != ""
	var again time.Duration
	var channels []v1alpha1.ChannelRollout
	for _, t := range targetsOf(m) {
		status := statusOf(m, t.channel)
		message, err := r.complete(ctx, m, &t)
		if err != nil {
			return 0, err
		}
		if stalled || message != "" {
			// A channel that is not valid does not move on.
			problem = cmp.Or(problem, message)
			if status != nil {
				channels = append(channels, *status)
			}
			continue
		}
		next, after, err := r.next(ctx, m, t, status)
		if err != nil {
			return 0, err
		}
		channels = append(channels, next)
		if after > 0 && (again == 0 || after < again) {
			again = after
		}
	}
	m.Status.Channels = channels
	setConditions(m, problem, stalled)
	return again, nil
}

// next returns the next state of a rollout, and how long it stays the same.
func (r *reconciler) next(ctx context.Context, m *v1alpha1.ModuleReleaseMeta, t target, status *v1alpha1.ChannelRollout) (
	v1alpha1.ChannelRollout, time.Duration, error,
) {
	now := r.now()
	members, err := r.members(ctx, m, t, status, now)
	if err != nil {
		return v1alpha1.ChannelRollout{}, 0, err
	}
	r.patience.watch(m.Name, status, t, members, now)
	next, again := rollout.Next(rollout.Input{
		Channel: t.channel, Release: t.release, Status: status, Policy: t.policy, Spread: r.spread, Members: members, Now: now,
	})
	if isActive(next.Phase) && (again == 0 || again > checkEvery) {
		again = checkEvery
	}
	return next, again, nil
}

// isActive reports whether a rollout in a phase continues as its Kymas change.
func isActive(p v1alpha1.RolloutPhase) bool {
	return p == v1alpha1.RolloutProgressing || p == v1alpha1.RolloutRollingBack
}

// statusOf returns the state of the rollout in a channel, or nil.
func statusOf(m *v1alpha1.ModuleReleaseMeta, channel string) *v1alpha1.ChannelRollout {
	for i := range m.Status.Channels {
		if m.Status.Channels[i].Channel == channel {
			return &m.Status.Channels[i]
		}
	}
	return nil
}

// check returns a message if a ModuleReleaseMeta cannot be used at all.
func (r *reconciler) check(ctx context.Context, m *v1alpha1.ModuleReleaseMeta) (string, error) {
	if _, err := metav1.LabelSelectorAsSelector(m.Spec.KymaSelector); err != nil {
		return fmt.Sprintf("spec.kymaSelector is not valid: %s", err), nil
	}
	all := &v1alpha1.ModuleReleaseMetaList{}
	if err := r.client.List(ctx, all, client.MatchingFields{indexModule: m.Spec.ModuleName}, client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list ModuleReleaseMetas")
	}
	var others []string
	for i := range all.Items {
		if o := &all.Items[i]; o.Name != m.Name && !meta.WasDeleted(o) {
			others = append(others, o.Name)
		}
	}
	if slices.Sort(others); len(others) > 0 {
		return fmt.Sprintf("module %q is also released by ModuleReleaseMeta %s, so none of them is used: delete all but one",
			m.Spec.ModuleName, strings.Join(others, " and ModuleReleaseMeta ")), nil
	}
	return "", nil
}

// complete sets the policy of a target. It returns a message if its version cannot be released.
func (r *reconciler) complete(ctx context.Context, m *v1alpha1.ModuleReleaseMeta, t *target) (string, error) {
	if name := t.release.RolloutPolicy; name != "" {
		p := &v1alpha1.RolloutPolicy{}
		err := r.client.Get(ctx, client.ObjectKey{Name: name}, p, client.UnsafeDisableDeepCopy)
		if notfound.Is(err) {
			return fmt.Sprintf("channel %s: RolloutPolicy %s does not exist", t.channel, name), nil
		}
		if err != nil {
			return "", errors.Wrapf(err, "cannot get RolloutPolicy %s", name)
		}
		if err := rollout.Validate(&p.Spec); err != nil {
			return fmt.Sprintf("channel %s: RolloutPolicy %s: %s", t.channel, name, err), nil
		}
		t.policy = &p.Spec
	}
	templates := &v1alpha1.ModuleTemplateList{}
	if err := r.client.List(ctx, templates, client.UnsafeDisableDeepCopy); err != nil {
		return "", errors.Wrap(err, "cannot list ModuleTemplates")
	}
	c := &catalogue.Catalogue{Module: m.Spec.ModuleName, Templates: catalogue.Of(templates.Items, m.Spec.ModuleName)}
	if problem := c.Releasable(m, t.channel, t.release.Version); problem != "" {
		return fmt.Sprintf("channel %s: %s", t.channel, problem), nil
	}
	return "", nil
}
