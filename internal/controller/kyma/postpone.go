// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/maintenance"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// postpone makes a step wait if the version of a template is an upgrade that must not begin yet. It returns the template that the
// Manifest follows until then: t if nothing waits, or that of the installed version. It returns nil if no template has the installed
// version any longer, or if a maintenance window is invalid: then, the Manifest stays as it is.
func (p *planner) postpone(s *step, t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) *v1alpha1.ModuleTemplate {
	if !p.isUpgrade(s, t) {
		return t
	}
	calendar, err := maintenance.Parse(p.kyma.Spec.ForProvider.MaintenanceWindows)
	wait, waits := maintenance.WaitAt(calendar, maintenance.DeferralOf(p.kyma, s.choice.Rollout, s.choice.Policy), p.now)
	if err == nil && !waits {
		return t
	}
	if s.urgency = urgencyOf(p.kyma); s.urgency != "" {
		return t
	}
	s.status.PendingVersion = t.Status.Version
	if err != nil {
		s.refuse(fmt.Sprintf("upgrade to %s waits: %s", t.Status.Version, err))
		return nil
	}
	s.wake = wait.Until
	message, version := wait.Message(t.Status.Version), s.live.Spec.ForProvider.Version
	installed := templateOf(p.catalogues[m.Name].Templates, t, version)
	if installed == nil {
		message += "; other changes to the module wait too, because no ModuleTemplate has version " + version
	}
	if s.status.State == v1alpha1.StateReady || s.status.Message == "" {
		s.status.Message = message
	}
	return installed
}

// isUpgrade reports whether a template changes an installed module to a higher version, and the owner of the Kyma did not request it:
// they did if the module is pinned, has another channel than before, moves to another cluster, or was only planned before. Downgrades
// never wait, because each of them is requested explicitly, to repair something.
func (p *planner) isUpgrade(s *step, t *v1alpha1.ModuleTemplate) bool {
	if s.live == nil || s.planned || s.choice.Channel == "" || s.live.Spec.ForProvider.Mode == v1alpha1.ModePlan {
		return false
	}
	installed, from := s.live.Spec.ForProvider.Version, s.live.Labels[v1alpha1.LabelChannel]
	if installed == t.Status.Version || !catalogue.SameChannel(from, s.choice.Channel) || *s.live.Spec.ProviderConfigReference != *p.configOf(t) {
		return false
	}
	c, err := module.CompareVersions(t.Status.Version, installed)
	return err != nil || c > 0
}

// maxUrgency is the maximum length of the reason of an urgent upgrade in an event, in bytes.
const maxUrgency = 256

// urgencyOf returns the reason why the upgrades of a Kyma do not wait, or an empty string.
func urgencyOf(k *v1alpha1.Kyma) string {
	return conditions.Truncate(strings.TrimSpace(k.Annotations[v1alpha1.AnnotationUpgradeNow]), maxUrgency)
}

// templateOf returns a resolved template with a version, in the channel of another one or in none. It returns nil if there is none.
func templateOf(all []v1alpha1.ModuleTemplate, like *v1alpha1.ModuleTemplate, version string) *v1alpha1.ModuleTemplate {
	for i := range all {
		t := &all[i]
		if meta.WasDeleted(t) || t.Status.Version != version || t.Spec.Channel != "" && t.Spec.Channel != like.Spec.Channel {
			continue
		}
		if ok, _ := catalogue.IsResolved(t); ok {
			return t
		}
	}
	return nil
}

// A wakeUp is when a Kyma must be reconciled again because an upgrade may begin, or zero.
type wakeUp struct{ at time.Time }

// wakeUpKey is the key of the wakeUp in the context of a reconcile.
type wakeUpKey struct{}

// requestWakeUp requests another reconcile of a Kyma for the first upgrade that waits.
func requestWakeUp(ctx context.Context, k *v1alpha1.Kyma, steps []step) {
	w, ok := ctx.Value(wakeUpKey{}).(*wakeUp)
	for i := range steps {
		if at := steps[i].wake; ok && !at.IsZero() && (w.at.IsZero() || at.Before(w.at)) {
			w.at = at
		}
	}
	if ok && !w.at.IsZero() {
		w.at = w.at.Add(maintenance.Delay(k))
	}
}

// limit limits a delay so that a reconcile is not later than requested. A delay of 0 means that no reconcile follows.
func (w *wakeUp) limit(delay time.Duration, now time.Time) time.Duration {
	if w.at.IsZero() {
		return delay
	}
	if until := max(w.at.Sub(now), conflictRetry); delay == 0 || until < delay {
		return until
	}
	return delay
}
