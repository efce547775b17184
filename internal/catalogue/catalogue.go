// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// A Catalogue contains what is known about one module.
type Catalogue struct {
	Module    string
	Templates []v1alpha1.ModuleTemplate
	Releases  []v1alpha1.ModuleReleaseMeta
	// Policies contains the RolloutPolicies of the releases, by name.
	Policies map[string]*v1alpha1.RolloutPolicySpec
}

// A Request is what a Kyma requests of a module.
type Request struct {
	rollout.Kyma

	// Version pins the module, or is empty.
	Version string
	// Channel is the channel of the module if it is not pinned.
	Channel string
	// InstalledChannel is the channel that the installed version came from, or empty.
	InstalledChannel string
}

// A Choice is the version of a module that a Kyma has now.
type Choice struct {
	// Template provides the version. If it is nil and there is no Error, the module stays as it is, or is not installed yet.
	Template *v1alpha1.ModuleTemplate
	// Channel is the channel that the version comes from. It is empty if the module is pinned.
	Channel string
	// Pending is the version that the Kyma will have later, or empty.
	Pending string
	// Message explains why the Kyma does not have the version of its channel, or is empty.
	Message string
	// AllowsDowngrade is true if the version may be lower than the installed one.
	AllowsDowngrade bool
	// Release is the ModuleReleaseMeta that the version comes from, or nil, and Rollout is its state.
	Release *v1alpha1.ModuleReleaseMeta
	Rollout *v1alpha1.ChannelRollout
	// Policy is the RolloutPolicy of the release, or nil.
	Policy *v1alpha1.RolloutPolicySpec
	// Error explains why the Kyma cannot have the module, or is empty.
	Error string
}

// Requires reports whether a ModuleReleaseMeta makes its module mandatory for a Kyma. While its kymaSelector is not valid, it does for the
// Kymas that have the module because of it: a mistake in a selector must not remove a module from a fleet.
func Requires(r *v1alpha1.ModuleReleaseMeta, k *v1alpha1.Kyma) bool {
	if r.Spec.Mandatory == nil || meta.WasDeleted(r) {
		return false
	}
	if selectorProblem(r) == "" {
		return selects(r, k.Labels)
	}
	return slices.ContainsFunc(k.Status.AtProvider.Modules, func(m v1alpha1.ModuleStatus) bool {
		return m.Name == r.Spec.ModuleName && m.Origin == v1alpha1.ModuleOriginMandatory
	})
}

// selectorProblem returns a message if the kymaSelector of a ModuleReleaseMeta is not valid.
func selectorProblem(r *v1alpha1.ModuleReleaseMeta) string {
	if _, err := metav1.LabelSelectorAsSelector(r.Spec.KymaSelector); err != nil {
		return fmt.Sprintf("ModuleReleaseMeta %s: spec.kymaSelector is not valid, so module %q stays as it is: %s", r.Name, r.Spec.ModuleName, err)
	}
	return ""
}

// SelectorOf returns the selector of the labels of Kymas that a ModuleReleaseMeta is for. A selector that is not valid selects nothing.
func SelectorOf(r *v1alpha1.ModuleReleaseMeta) labels.Selector {
	if r.Spec.KymaSelector == nil {
		return labels.Everything()
	}
	s, err := metav1.LabelSelectorAsSelector(r.Spec.KymaSelector)
	if err != nil {
		return labels.Nothing()
	}
	return s
}

// selects reports whether a ModuleReleaseMeta is for a Kyma with some labels.
func selects(r *v1alpha1.ModuleReleaseMeta, set map[string]string) bool {
	return SelectorOf(r).Matches(labels.Set(set))
}

// Select returns the version of the module for a Kyma.
func (c *Catalogue) Select(r Request) Choice {
	release, message := c.release(r.Labels)
	switch {
	case message != "":
		return Choice{Channel: r.Channel, Error: message}
	case release != nil && release.Spec.Mandatory != nil:
		return c.released(r, release, v1alpha1.MandatoryChannel, release.Spec.Mandatory)
	case r.Version != "":
		return c.pinned(r, release)
	}
	if release != nil {
		for i := range release.Spec.Channels {
			if ch := &release.Spec.Channels[i]; ch.Channel == r.Channel {
				return c.released(r, release, ch.Channel, &ch.Release)
			}
		}
	}
	return c.ofChannel(r, release)
}

// release returns the ModuleReleaseMeta of the module that applies to a Kyma, or nil. It returns a message if there are several, or if
// the Kyma must not have the module.
func (c *Catalogue) release(set map[string]string) (*v1alpha1.ModuleReleaseMeta, string) {
	var found []*v1alpha1.ModuleReleaseMeta
	var names []string
	for i := range c.Releases {
		if r := &c.Releases[i]; !meta.WasDeleted(r) {
			found, names = append(found, r), append(names, r.Name)
		}
	}
	slices.Sort(names)
	switch {
	case len(found) == 0:
		return nil, ""
	case len(found) > 1:
		return nil, fmt.Sprintf("ModuleReleaseMetas %s all release module %q; delete all but one", strings.Join(names, " and "), c.Module)
	case selectorProblem(found[0]) != "":
		return nil, selectorProblem(found[0])
	case selects(found[0], set):
		return found[0], ""
	case found[0].Spec.Mandatory != nil:
		return nil, "" // A Kyma that it does not select can have the module from a channel of a ModuleTemplate, or as a pin.
	}
	return nil, fmt.Sprintf("ModuleReleaseMeta %s does not allow module %q here, because its kymaSelector does not select the labels of the "+
		"Kyma", names[0], c.Module)
}

// pinned returns the version that a Kyma pins. The owner requested exactly this version, so it may be lower than the installed one.
func (c *Catalogue) pinned(r Request, release *v1alpha1.ModuleReleaseMeta) Choice {
	out := Choice{AllowsDowngrade: true}
	out.Template, out.Error = c.version(r.Version, release)
	return out
}

// released returns the version that a rollout of a ModuleReleaseMeta determines.
func (c *Catalogue) released(r Request, release *v1alpha1.ModuleReleaseMeta, channel string, spec *v1alpha1.Release) Choice {
	out := Choice{Channel: channel, Release: release}
	if out.Error = c.contradiction(release, channel, spec.Version); out.Error != "" {
		return out
	}
	if !SameChannel(r.InstalledChannel, channel) {
		r.Installed = "" // The Kyma changes to this channel on request of its owner.
	}
	out.Rollout = rolloutOf(release, channel)
	policy, known := c.Policies[spec.RolloutPolicy]
	out.Policy = policy
	switch {
	case out.Rollout == nil || out.Rollout.Version != spec.Version:
		return c.keep(out, r.Installed, spec.Version, release)
	case spec.RolloutPolicy != "" && !known && r.Installed != "" && out.Rollout.Phase != v1alpha1.RolloutComplete:
		return c.keep(out, r.Installed, spec.Version, release)
	}
	d := rollout.Decide(c.Module, out.Rollout, policy, r.Kyma)
	out.Pending, out.Message = d.Pending, d.Message
	out.AllowsDowngrade = d.Downgrade || allowsDowngrade(release, channel, d.Version)
	out.Template, out.Error = c.version(d.Version, release)
	if out.Template == nil && d.Version == r.Installed {
		out.Error = "" // The installed version is no longer in the catalogue, and stays.
	}
	return out
}

// rolloutOf returns the state of the rollout in a channel, or nil.
func rolloutOf(release *v1alpha1.ModuleReleaseMeta, channel string) *v1alpha1.ChannelRollout {
	for i := range release.Status.Channels {
		if ch := &release.Status.Channels[i]; ch.Channel == channel {
			return ch
		}
	}
	return nil
}

// keep returns the installed version until a ModuleReleaseMeta is processed.
func (c *Catalogue) keep(out Choice, installed, version string, release *v1alpha1.ModuleReleaseMeta) Choice {
	out.Message = fmt.Sprintf("waiting for ModuleReleaseMeta %s to be processed", release.Name)
	if ready := release.Status.GetCondition("Ready"); ready.Status == "False" && ready.ObservedGeneration == release.Generation {
		out.Message = fmt.Sprintf("ModuleReleaseMeta %s: %s", release.Name, ready.Message)
	}
	if installed == "" {
		return out
	}
	if installed != version {
		out.Pending = version
	} else {
		out.Message = ""
	}
	out.Template, _ = c.version(installed, release)
	return out
}

// allowsDowngrade reports whether the annotation of a ModuleReleaseMeta allows a lower version in a channel.
func allowsDowngrade(release *v1alpha1.ModuleReleaseMeta, channel, version string) bool {
	return slices.ContainsFunc(strings.Split(release.Annotations[v1alpha1.AnnotationAllowDowngrade], ","), func(s string) bool {
		return strings.TrimSpace(s) == channel+"@"+version
	})
}

// contradiction returns a message if a ModuleTemplate has a channel of a ModuleReleaseMeta, but another version.
func (c *Catalogue) contradiction(release *v1alpha1.ModuleReleaseMeta, channel, version string) string {
	for i := range c.Templates {
		t := &c.Templates[i]
		if has := versionOf(t); t.Spec.Channel == channel && !meta.WasDeleted(t) && has != "" && has != version {
			return fmt.Sprintf("module %q is ambiguous in channel %q: ModuleReleaseMeta %s has version %s, and ModuleTemplate %s has version "+
				"%s; remove spec.channel of the ModuleTemplate", c.Module, channel, release.Name, version, t.Name, has)
		}
	}
	return ""
}

// ofChannel returns the version of the ModuleTemplate of a channel. If the channel has none or more than one, it returns an error: it
// neither falls back to another channel nor chooses between templates.
func (c *Catalogue) ofChannel(r Request, release *v1alpha1.ModuleReleaseMeta) Choice {
	out := Choice{Channel: r.Channel}
	var names, channels []string
	for i := range c.Templates {
		t := &c.Templates[i]
		if meta.WasDeleted(t) || t.Spec.Channel == "" {
			continue // The controller of a template that is being deleted no longer resolves it.
		}
		channels = append(channels, t.Spec.Channel)
		if t.Spec.Channel == r.Channel {
			out.Template, names = t, append(names, t.Name)
		}
	}
	if release != nil {
		for i := range release.Spec.Channels {
			channels = append(channels, release.Spec.Channels[i].Channel)
		}
	}
	slices.Sort(names)
	slices.Sort(channels)
	if len(names) == 1 {
		return out
	}
	out.Template = nil
	switch {
	case len(names) > 1:
		out.Error = fmt.Sprintf("ModuleTemplates %s all provide module %q in channel %q; delete all but one", strings.Join(names, " and "),
			c.Module, r.Channel)
	case len(channels) == 0 && len(c.Templates) > 0:
		out.Error = fmt.Sprintf("module %q has no channel %q, and no other channel; its versions are %s: pin one of them, or release it with "+
			"a ModuleReleaseMeta", c.Module, r.Channel, c.versions(nil))
	case len(channels) == 0:
		out.Error = fmt.Sprintf("no ModuleTemplate provides module %q; check the name in spec.forProvider.modules", c.Module)
	default:
		out.Error = fmt.Sprintf("module %q has no ModuleTemplate in channel %q; channels that have one: %s",
			c.Module, r.Channel, strings.Join(slices.Compact(channels), ", "))
	}
	return out
}

// version returns the template of a version. If several templates have it, with the same content, one without a channel is preferred. If
// there is none, or if their contents differ, it returns a message.
func (c *Catalogue) version(version string, release *v1alpha1.ModuleReleaseMeta) (*v1alpha1.ModuleTemplate, string) {
	var found []*v1alpha1.ModuleTemplate
	for i := range c.Templates {
		if t := &c.Templates[i]; c.provides(t, release) && versionOf(t) == version {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.ModuleTemplate) int {
		return cmp.Or(cmp.Compare(a.Spec.Channel, b.Spec.Channel), cmp.Compare(a.Name, b.Name))
	})
	if len(found) == 0 {
		return nil, fmt.Sprintf("no ModuleTemplate provides version %s of module %q; versions that one provides: %s", version, c.Module,
			c.versions(release))
	}
	for _, t := range found[1:] {
		if a, b := found[0].Status.Digest, t.Status.Digest; a != "" && b != "" && a != b {
			return nil, fmt.Sprintf("ModuleTemplates %s and %s provide different contents for version %s of module %q; delete one of them",
				found[0].Name, t.Name, version, c.Module)
		}
	}
	return found[0], ""
}

// provides reports whether a template can provide a version for a ModuleReleaseMeta, which can be nil.
func (c *Catalogue) provides(t *v1alpha1.ModuleTemplate, release *v1alpha1.ModuleReleaseMeta) bool {
	return !meta.WasDeleted(t) &&
		(release == nil || release.Spec.OCMComponentName == "" || module.ComponentOf(t) == release.Spec.OCMComponentName)
}

// versions lists the versions of the module, up to a number.
func (c *Catalogue) versions(release *v1alpha1.ModuleReleaseMeta) string {
	var out []string
	for i := range c.Templates {
		if t := &c.Templates[i]; c.provides(t, release) && versionOf(t) != "" {
			out = append(out, versionOf(t))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	const most = 10
	switch n := len(out); {
	case n == 0:
		return "none"
	case n > most:
		out = append(out[n-most:n:n], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(out, ", ")
}

// versionOf returns the version of a template: the resolved one, or the one that it will have when it is resolved.
func versionOf(t *v1alpha1.ModuleTemplate) string {
	if t.Status.Version != "" && t.Status.ResolvedGeneration == t.Generation {
		return t.Status.Version
	}
	if t.Spec.Component != nil {
		return t.Spec.Component.Version
	}
	return cmp.Or(t.Spec.Version, t.Status.Version)
}
