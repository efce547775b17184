// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/cached"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/kyma"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/maintenance"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// A fleet contains the Kymas and the configs of their clusters, as they are in the cache. A pass considers those of the whole fleet.
type fleet struct {
	kymas          source[*v1alpha1.Kyma]
	configs        source[*v1alpha1.ProviderConfig]
	clusterConfigs source[*v1alpha1.ClusterProviderConfig]
}

// A source has the objects of one kind. They must not be changed.
type source[T client.Object] interface {
	Objects(ctx context.Context) (cached.Objects[T], error)
}

// kymasOf returns the Kymas that have the module of a ModuleReleaseMeta, or must have it.
func (f *fleet) kymasOf(ctx context.Context, m *v1alpha1.ModuleReleaseMeta) ([]*v1alpha1.Kyma, error) {
	all, err := f.kymas.Objects(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list Kymas")
	}
	if m.Spec.Mandatory != nil {
		return all.All(), nil
	}
	found, err := all.By(kyma.IndexModules, m.Spec.ModuleName)
	return found, errors.Wrap(err, "cannot list Kymas")
}

// connections returns a function that returns the condition Reachable of the cluster of a Kyma. It is False if the ProviderConfig does not exist.
func (f *fleet) connections(ctx context.Context) (func(k *v1alpha1.Kyma) xpv2.Condition, error) {
	configs, err := f.configs.Objects(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list ProviderConfigs")
	}
	shared, err := f.clusterConfigs.Objects(ctx)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list ClusterProviderConfigs")
	}
	return func(k *v1alpha1.Kyma) xpv2.Condition {
		ref := k.Spec.ProviderConfigReference
		if ref == nil {
			return xpv2.Condition{}
		}
		if ref.Kind == v1alpha1.ClusterProviderConfigKind {
			if c, ok := shared.Get("", ref.Name); ok {
				return c.GetCondition(v1alpha1.TypeReachable)
			}
		} else if c, ok := configs.Get(k.Namespace, ref.Name); ok {
			return c.GetCondition(v1alpha1.TypeReachable)
		}
		return xpv2.Condition{Status: corev1.ConditionFalse}
	}, nil
}

// members returns the Kymas that have the module of a ModuleReleaseMeta from a channel. It reads only from the cache.
func (r *reconciler) members(ctx context.Context, m *v1alpha1.ModuleReleaseMeta, t target, status *v1alpha1.ChannelRollout, now time.Time) (
	[]rollout.Member, error,
) {
	kymas, err := r.fleet.kymasOf(ctx, m)
	if err != nil {
		return nil, err
	}
	connectionOf, err := r.fleet.connections(ctx)
	if err != nil {
		return nil, err
	}
	if status != nil && status.Version != t.release.Version {
		status = nil
	}
	a := newAssessor(m, t)
	out := make([]rollout.Member, 0, len(kymas))
	for _, k := range kymas {
		if !a.isMember(k) {
			continue
		}
		member := a.memberOf(k)
		member.Held = isHeld(k, m.Spec.ModuleName)
		if member.Updated {
			member.Waiting = member.Held && !member.Ready
		} else {
			member.Waiting = member.Held || a.isUpgrade(k) && waits(k, t, status, now)
		}
		connection := connectionOf(k)
		member.Offline, member.Since = connection.Status == corev1.ConditionFalse, later(member.Since, connection.LastTransitionTime.Time)
		out = append(out, member)
	}
	return out, nil
}

// follows reports whether a Kyma has a module from a channel.
func follows(k *v1alpha1.Kyma, name, channel string) bool {
	if channel == v1alpha1.MandatoryChannel {
		return true
	}
	return slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool {
		return m.Name == name && m.Version == "" && (m.Managed == nil || *m.Managed) && catalogue.ChannelOf(k, &m) == channel
	})
}

// isHeld reports whether the owner of a Kyma does not let the provider change a module: the Kyma is paused, its policies forbid updates or are
// not supported, or one of both is only planned.
func isHeld(k *v1alpha1.Kyma, name string) bool {
	forbidden := false
	if policies := k.Spec.ManagementPolicies; policies != nil && !settings.AllowsAll(policies) {
		r := settings.CheckerOf(true, policies)
		forbidden = !r.ShouldUpdate() || r.Validate() != nil
	}
	return meta.IsPaused(k) || isPlanned(k, name) || forbidden
}

func isPlanned(k *v1alpha1.Kyma, name string) bool {
	p := &k.Spec.ForProvider
	return p.Mode == v1alpha1.ModePlan || slices.ContainsFunc(p.Modules, func(m v1alpha1.Module) bool {
		return m.Name == name && m.Mode == v1alpha1.ModePlan
	})
}

// An assessor reads the state of Kymas in the rollout of a version. It remembers what many Kymas have in common.
type assessor struct {
	module string
	target target
	// selector selects the Kymas that the release is for.
	selector labels.Selector
	waves    rollout.Waves
	// upgrades contains whether the version of the target is higher than an installed one.
	upgrades map[string]bool
}

func newAssessor(m *v1alpha1.ModuleReleaseMeta, t target) *assessor {
	return &assessor{
		module: m.Spec.ModuleName, target: t, selector: catalogue.SelectorOf(m), waves: rollout.WavesOf(t.policy), upgrades: map[string]bool{},
	}
}

// isMember reports whether a Kyma takes part in the rollout.
func (a *assessor) isMember(k *v1alpha1.Kyma) bool {
	return !meta.WasDeleted(k) && a.selector.Matches(labels.Set(k.Labels)) && follows(k, a.module, a.target.channel)
}

// memberOf returns the state of a Kyma, from its status.
func (a *assessor) memberOf(k *v1alpha1.Kyma) rollout.Member {
	name, t := a.module, a.target
	at := a.waves.Position(name, t.release.Version, rollout.Kyma{UID: k.UID, Labels: k.Labels})
	out := rollout.Member{
		Namespace: k.Namespace, Name: k.Name, Wave: at.Wave, Hash: at.Hash,
		Since: k.GetCondition(xpv2.TypeReady).LastTransitionTime.Time,
	}
	if s := moduleOf(k, name, t); s != nil {
		out.Installed, out.Message = s.Version != "", truncate(s.Message)
		// A Manifest that rolled back an upgrade has the version of the release, and reports the one that runs.
		out.RolledBack = s.Reason == string(v1alpha1.ReasonRolledBack) && s.RolledBackFrom == t.release.Version
		// A plan reports the version that it would install.
		out.Updated = (s.Version == t.release.Version || out.RolledBack) && !isPlanned(k, name)
		out.Ready, out.Error = s.State == v1alpha1.StateReady || isIgnored(s), s.State == v1alpha1.StateError
	}
	if c := k.GetCondition(xpv2.TypeSynced); !out.Updated && c.Reason == xpv2.ReasonReconcileError {
		// It cannot change to the version, and reports what it had before.
		out.Ready, out.Since, out.Message = false, later(out.Since, c.LastTransitionTime.Time), truncate(c.Message)
	}
	return out
}

// moduleOf returns the status of a module from a channel, or nil.
func moduleOf(k *v1alpha1.Kyma, name string, t target) *v1alpha1.ModuleStatus {
	for i := range k.Status.AtProvider.Modules {
		if s := &k.Status.AtProvider.Modules[i]; s.Name == name && catalogue.SameChannel(s.Channel, t.channel) {
			return s
		}
	}
	return nil
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// isIgnored reports whether a mandatory module is Ready, and in state Warning only because the owner of the Kyma requests what has no effect.
func isIgnored(s *v1alpha1.ModuleStatus) bool {
	return s.Origin == v1alpha1.ModuleOriginMandatory && s.State == v1alpha1.StateWarning && s.Message == catalogue.IgnoredMessage
}

// isUpgrade reports whether the version of the target is higher than that of an installed module. Nothing else waits for a maintenance window.
func (a *assessor) isUpgrade(k *v1alpha1.Kyma) bool {
	s := moduleOf(k, a.module, a.target)
	if s == nil || s.Version == "" {
		return false
	}
	installed := cmp.Or(s.RolledBackFrom, s.Version)
	higher, ok := a.upgrades[installed]
	if !ok {
		c, err := module.CompareVersions(a.target.release.Version, installed)
		higher = err != nil || c > 0
		a.upgrades[installed] = higher
	}
	return higher
}

// waits reports whether a Kyma waits for a maintenance window, or defers upgrades.
func waits(k *v1alpha1.Kyma, t target, status *v1alpha1.ChannelRollout, now time.Time) bool {
	if strings.TrimSpace(k.Annotations[v1alpha1.AnnotationUpgradeNow]) != "" {
		return false
	}
	d := maintenance.DeferralOf(k, status, t.policy)
	calendar, err := maintenance.Parse(k.Spec.ForProvider.MaintenanceWindows)
	if err != nil {
		return true
	}
	_, waits := maintenance.WaitAt(calendar, d, now)
	return waits
}
