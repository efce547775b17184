// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/catalogue"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/kyma"
	"github.com/crossplane-contrib/provider-kyma/internal/maintenance"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// members returns the Kymas that have the module of a ModuleReleaseMeta from a channel. It reads only from the cache.
func (r *reconciler) members(ctx context.Context, m *v1alpha1.ModuleReleaseMeta, t target, status *v1alpha1.ChannelRollout, now time.Time) (
	[]rollout.Member, error,
) {
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if m.Spec.Mandatory == nil {
		options = append(options, client.MatchingFields{kyma.IndexModules: m.Spec.ModuleName})
	}
	l := &v1alpha1.KymaList{}
	if err := r.client.List(ctx, l, options...); err != nil {
		return nil, errors.Wrap(err, "cannot list Kymas")
	}
	if status != nil && status.Version != t.release.Version {
		status = nil
	}
	out := make([]rollout.Member, 0, len(l.Items))
	for i := range l.Items {
		k := &l.Items[i]
		if !isMember(k, m, t.channel) {
			continue
		}
		member := memberOf(k, m.Spec.ModuleName, t)
		member.Held = isHeld(k, m.Spec.ModuleName)
		if member.Updated {
			member.Waiting = member.Held && !member.Ready
		} else {
			member.Waiting = member.Held || isUpgrade(k, m.Spec.ModuleName, t) && waits(k, t, status, now)
		}
		c, err := r.connectionOf(ctx, k)
		if err != nil {
			return nil, err
		}
		member.Offline, member.Since = c.Status == corev1.ConditionFalse, later(member.Since, c.LastTransitionTime.Time)
		out = append(out, member)
	}
	return out, nil
}

func isMember(k *v1alpha1.Kyma, m *v1alpha1.ModuleReleaseMeta, channel string) bool {
	return !meta.WasDeleted(k) && catalogue.Selects(m, k.Labels) && follows(k, m.Spec.ModuleName, channel)
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
	// A resolver allocates a lot, and a fleet has thousands of Kymas with the default.
	isDefault := slices.Equal(k.Spec.ManagementPolicies, xpv2.ManagementPolicies{xpv2.ManagementActionAll})
	if policies := k.Spec.ManagementPolicies; policies != nil && !isDefault {
		r := managed.NewManagementPoliciesResolver(true, policies)
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

// memberOf returns the state of a Kyma in the rollout of a version, from its status.
func memberOf(k *v1alpha1.Kyma, name string, t target) rollout.Member {
	out := rollout.Member{
		Namespace: k.Namespace, Name: k.Name, Wave: rollout.WaveOf(t.policy, k.Labels), Hash: rollout.Hash(k.UID, name, t.release.Version),
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

// isUpgrade reports whether the version of a release is higher than that of an installed module. Nothing else waits for a maintenance window.
func isUpgrade(k *v1alpha1.Kyma, name string, t target) bool {
	s := moduleOf(k, name, t)
	if s == nil || s.Version == "" {
		return false
	}
	c, err := module.CompareVersions(t.release.Version, cmp.Or(s.RolledBackFrom, s.Version))
	return err != nil || c > 0
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

// connectionOf returns the condition Reachable of the cluster of a Kyma. It is False if the ProviderConfig does not exist.
func (r *reconciler) connectionOf(ctx context.Context, k *v1alpha1.Kyma) (xpv2.Condition, error) {
	ref := k.Spec.ProviderConfigReference
	if ref == nil {
		return xpv2.Condition{}, nil
	}
	var o interface {
		client.Object
		resource.Conditioned
	} = &v1alpha1.ProviderConfig{}
	key := client.ObjectKey{Namespace: k.Namespace, Name: ref.Name}
	if ref.Kind == v1alpha1.ClusterProviderConfigKind {
		o, key.Namespace = &v1alpha1.ClusterProviderConfig{}, ""
	}
	err := r.client.Get(ctx, key, o, client.UnsafeDisableDeepCopy)
	if notfound.Is(err) {
		return xpv2.Condition{Status: corev1.ConditionFalse}, nil
	}
	return o.GetCondition(v1alpha1.TypeReachable), errors.Wrapf(err, "cannot get %s %s", ref.Kind, key)
}
