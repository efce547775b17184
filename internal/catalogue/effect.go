// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// DefaultChannel is the channel of a Kyma that names none.
const DefaultChannel = "regular"

// ChannelOf returns the channel of a module, which defaults to the channel of the Kyma.
func ChannelOf(k *v1alpha1.Kyma, m *v1alpha1.Module) string {
	return cmp.Or(m.Channel, k.Spec.ForProvider.Channel, DefaultChannel)
}

// IgnoredMessage is the message of a mandatory module whose Kyma requests what has no effect.
const IgnoredMessage = "the module is mandatory, so its channel, version and managed are ignored; remove them from spec.forProvider.modules"

// SameChannel reports whether the owner of a Kyma did not request a change from one channel to another: it is the same, or the platform team
// made the module mandatory, or no longer does. An upgrade that comes with it follows the rollout.
func SameChannel(from, to string) bool {
	return from == to || from == v1alpha1.MandatoryChannel || to == v1alpha1.MandatoryChannel
}

// PoliciesOf returns the names of the RolloutPolicies that a ModuleReleaseMeta refers to.
func PoliciesOf(r *v1alpha1.ModuleReleaseMeta) []string {
	var out []string
	for i := range r.Spec.Channels {
		out = append(out, r.Spec.Channels[i].RolloutPolicy)
	}
	if m := r.Spec.Mandatory; m != nil {
		out = append(out, m.RolloutPolicy)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// TemplateChanged reports whether a change of a template can affect a Kyma.
func TemplateChanged(was, is *v1alpha1.ModuleTemplate) bool {
	return was.Generation != is.Generation ||
		was.Status.ResolvedGeneration != is.Status.ResolvedGeneration ||
		was.Status.Digest != is.Status.Digest || was.Status.Version != is.Status.Version ||
		!was.Status.GetCondition(v1alpha1.TypeResolved).Equal(is.Status.GetCondition(v1alpha1.TypeResolved)) ||
		was.Labels[v1alpha1.LabelModuleName] != is.Labels[v1alpha1.LabelModuleName] ||
		was.Labels[v1alpha1.LabelControllerName] != is.Labels[v1alpha1.LabelControllerName] ||
		was.Annotations[v1alpha1.AnnotationAllowDowngrade] != is.Annotations[v1alpha1.AnnotationAllowDowngrade] ||
		!equality.Semantic.DeepEqual(was.Status.Resources, is.Status.Resources) || !equality.Semantic.DeepEqual(was.Status.Data, is.Status.Data)
}

// Concerns reports whether a template concerns a Kyma: the Kyma has the module from the channel of the template, or has its version,
// or waits for it. The message of a module that failed may list channels and versions.
func Concerns(k *v1alpha1.Kyma, name string, t *v1alpha1.ModuleTemplate) bool {
	return slices.ContainsFunc(k.Spec.ForProvider.Modules, func(m v1alpha1.Module) bool {
		return m.Name == name && (m.Version != "" && m.Version == t.Status.Version || m.Version == "" && ChannelOf(k, &m) == t.Spec.Channel)
	}) || slices.ContainsFunc(k.Status.AtProvider.Modules, func(m v1alpha1.ModuleStatus) bool {
		return m.Name == name && (m.State == v1alpha1.StateError || m.Version == "" || t.Spec.Channel == "" &&
			(m.Version == t.Status.Version || m.PendingVersion != ""))
	})
}

// Concerned returns a function that reports whether a change of the status of a ModuleReleaseMeta concerns a Kyma: the rollout in its
// channel is in another phase or for another version, or its turn has come. If the change concerns no Kyma, for example because only numbers have
// changed, it returns nil.
func Concerned(was, is *v1alpha1.ModuleReleaseMeta, policies map[string]*v1alpha1.RolloutPolicySpec) func(k *v1alpha1.Kyma) bool {
	all := problemOf(was) != problemOf(is)
	moves, moved := map[string]*move{}, all
	for i := range is.Status.Channels {
		c := &is.Status.Channels[i]
		m := moveOf(channelOf(was, c.Channel), c, policies[policyIn(is, c.Channel)])
		moves[c.Channel], moved = m, moved || m.moved
	}
	if !moved {
		return nil
	}
	return func(k *v1alpha1.Kyma) bool {
		return all || moves[channelIn(k, is)].concerns(is.Spec.ModuleName, k)
	}
}

// A move is a change of the rollout in a channel.
type move struct {
	// moved is false if the change concerns no Kyma, and all is true if it concerns all that follow the channel.
	moved, all bool
	was, is    *v1alpha1.ChannelRollout
	// fitted and fits report whether was and is belong to the waves of the policy.
	fitted, fits bool
	waves        rollout.Waves
}

// moveOf compares the rollout in a channel with what it was before, which is nil if there was none.
func moveOf(was, is *v1alpha1.ChannelRollout, policy *v1alpha1.RolloutPolicySpec) *move {
	if isOther(was, is) {
		return &move{moved: true, all: true}
	}
	if was.Wave == is.Wave && was.Threshold == is.Threshold && was.WavesDigest == is.WavesDigest {
		return &move{}
	}
	return &move{
		moved: true, was: was, is: is, fitted: rollout.Fits(was, policy), fits: rollout.Fits(is, policy), waves: rollout.WavesOf(policy),
	}
}

// concerns reports whether the turn of a Kyma that follows the channel has come, or is no longer. A nil move concerns none.
func (m *move) concerns(module string, k *v1alpha1.Kyma) bool {
	switch {
	case m == nil || !m.moved:
		return false
	case m.all:
		return true
	}
	p := m.waves.Position(module, m.is.Version, rollout.Kyma{UID: k.UID, Labels: k.Labels})
	return (m.fitted && p.IsReached(m.was)) != (m.fits && p.IsReached(m.is))
}

// channelOf returns the rollout in a channel, or nil.
func channelOf(r *v1alpha1.ModuleReleaseMeta, channel string) *v1alpha1.ChannelRollout {
	i := slices.IndexFunc(r.Status.Channels, func(c v1alpha1.ChannelRollout) bool { return c.Channel == channel })
	if i < 0 {
		return nil
	}
	return &r.Status.Channels[i]
}

// problem is why a ModuleReleaseMeta is not used, and in which generation.
type problem struct {
	message    string
	generation int64
}

// problemOf returns the problem of a ModuleReleaseMeta. The message of its condition Ready also names the wave of a rollout, which concerns no Kyma.
func problemOf(r *v1alpha1.ModuleReleaseMeta) problem {
	c := r.Status.GetCondition("Ready")
	if c.Reason != v1alpha1.ReasonInvalidRelease {
		return problem{}
	}
	return problem{c.Message, c.ObservedGeneration}
}

// isOther reports whether a rollout is in another phase or for another version than before.
func isOther(was, is *v1alpha1.ChannelRollout) bool {
	return was == nil || was.Version != is.Version || was.Phase != is.Phase || was.Previous != is.Previous
}

// channelIn returns the channel from which a Kyma has the module of a ModuleReleaseMeta.
func channelIn(k *v1alpha1.Kyma, r *v1alpha1.ModuleReleaseMeta) string {
	if r.Spec.Mandatory != nil {
		return v1alpha1.MandatoryChannel
	}
	for i := range k.Spec.ForProvider.Modules {
		if m := &k.Spec.ForProvider.Modules[i]; m.Name == r.Spec.ModuleName && m.Version == "" {
			return ChannelOf(k, m)
		}
	}
	return ""
}

// policyIn returns the name of the RolloutPolicy of a channel.
func policyIn(r *v1alpha1.ModuleReleaseMeta, channel string) string {
	if m := r.Spec.Mandatory; m != nil {
		return m.RolloutPolicy
	}
	for i := range r.Spec.Channels {
		if r.Spec.Channels[i].Channel == channel {
			return r.Spec.Channels[i].RolloutPolicy
		}
	}
	return ""
}
