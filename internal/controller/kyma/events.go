// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// These are the reasons of events.
const (
	reasonEnabled    event.Reason = "ModuleEnabled"
	reasonUpgraded   event.Reason = "ModuleUpgraded"
	reasonDowngraded event.Reason = "ModuleDowngraded"
	reasonRemoved    event.Reason = "ModuleRemoved"
	reasonDetached   event.Reason = "ModuleDetached"
	reasonBlocked    event.Reason = "DowngradeBlocked"
	reasonFailed     event.Reason = "ModuleFailed"
	reasonAbandoned  event.Reason = "Abandoned"
)

// recordEvents records an event for each module whose state is worse than in the status before this reconcile.
func (e *external) recordEvents(k *v1alpha1.Kyma, before []v1alpha1.ModuleStatus) {
	byName := make(map[string]v1alpha1.ModuleStatus, len(before))
	for _, m := range before {
		byName[m.Name] = m
	}
	for i := range e.steps {
		s := &e.steps[i]
		old := byName[s.status.Name]
		if old.State == s.status.State && old.Message == s.status.Message {
			continue
		}
		switch {
		case s.status.State == v1alpha1.StateError:
			e.connector.record.Event(k, event.Warning(reasonFailed, errors.New(summarize(s.status))))
		case s.demand == held:
			e.connector.record.Event(k, event.Warning(reasonBlocked, errors.New(summarize(s.status))))
		}
	}
}

// recordEnabled records one event for all modules whose installation has begun in a reconcile. Each event costs a request.
func (e *external) recordEnabled(k *v1alpha1.Kyma, modules []string) {
	const most = 10
	if n := len(modules); n > most {
		modules = append(modules[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(modules) > 0 {
		e.connector.record.Event(k, event.Normal(reasonEnabled, "Installing "+strings.Join(modules, "; ")))
	}
}

// recordUpgrade records an event if a rollout changes the version of a module.
func (e *external) recordUpgrade(k *v1alpha1.Kyma, s *step) {
	before := installedVersion(s.live)
	if before == s.status.Version || isPlanned(k) {
		return
	}
	reason := reasonUpgraded
	if c, err := module.CompareVersions(s.status.Version, before); err == nil && c < 0 {
		reason = reasonDowngraded
	}
	message := fmt.Sprintf("Changing module %s from version %s to %s in channel %s", s.status.Name, before, s.status.Version, s.status.Channel)
	if s.urgency != "" {
		message += ", without waiting for the maintenance window or the end of the deferral, because of: " + s.urgency
	}
	e.connector.record.Event(k, event.Normal(reason, message))
}

// recordRemoval records an event about a module that is being removed or detached.
func (e *external) recordRemoval(k *v1alpha1.Kyma, s *step) {
	if s.desired != nil && isDetached(s.desired) {
		e.connector.record.Event(k, event.Normal(reasonDetached, fmt.Sprintf("No longer managing module %s, version %s, whose objects stay in the cluster",
			s.status.Name, installedVersion(s.live))))
		return
	}
	e.connector.record.Event(k, event.Normal(reasonRemoved, fmt.Sprintf("Removing module %s, Manifest %s", s.status.Name, s.live.Name)))
}
