// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An EnabledModule is a module of a Kyma that is enabled, or still being removed.
type EnabledModule struct {
	// Namespace and Kyma identify the Kyma of the module.
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	// Name is the name of the module.
	Name string `json:"name"`
	// Enabled is false for a module that is still being removed.
	Enabled bool `json:"enabled"`
	// Channel is the desired channel, set by the module or else by the Kyma; empty if the module is not enabled.
	Channel string `json:"channel"`
	// ActiveChannel and Version describe the installed module; empty if nothing is installed yet.
	ActiveChannel string `json:"activeChannel"`
	Version       string `json:"version"`
	// State is the state of the module; empty until the provider reports it.
	State string `json:"state"`
	// Reason is the reason of the state in one word, for programs; empty until the provider reports it.
	Reason string `json:"reason"`
	// Manifest is the name of the Manifest of the module.
	Manifest string `json:"manifest"`
	// Message explains what the module is waiting for, or why it failed.
	Message string `json:"message"`
	// Available lists the versions in all channels that differ from the installed one.
	Available []Available `json:"available"`
}

// Available describes another offered version of a module.
type Available struct {
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Newer is true if Version is higher than the installed one.
	Newer bool `json:"newer"`
}

// Unseen is the message for objects and modules that the provider has not reported on.
const Unseen = "not reconciled by the provider yet"

// EnabledModules returns the modules of Kymas, sorted by namespace, Kyma and name. It takes Available from offer.
func EnabledModules(kymas []v1alpha1.Kyma, offer Releases) []EnabledModule {
	out := []EnabledModule{}
	for i := range kymas {
		out = append(out, modulesOf(&kymas[i], offer)...)
	}
	slices.SortFunc(out, func(a, b EnabledModule) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kyma, b.Kyma), strings.Compare(a.Name, b.Name))
	})
	return out
}

// modulesOf returns the modules in the spec of a Kyma, followed by those that are only in its status.
func modulesOf(k *v1alpha1.Kyma, offer Releases) []EnabledModule {
	reported := make(map[string]v1alpha1.ModuleStatus, len(k.Status.AtProvider.Modules))
	for _, s := range k.Status.AtProvider.Modules {
		reported[s.Name] = s
	}
	var out []EnabledModule
	for i := range k.Spec.ForProvider.Modules {
		wanted := &k.Spec.ForProvider.Modules[i]
		status, ok := reported[wanted.Name]
		delete(reported, wanted.Name)
		m := Entry(k, wanted.Name, status)
		m.Enabled, m.Channel = true, ChannelOf(wanted.Channel, k.Spec.ForProvider.Channel)
		if !ok {
			m.Message = Unseen
		}
		m.Available = others(offer, &m)
		out = append(out, m)
	}
	for name, status := range reported {
		m := Entry(k, name, status)
		m.Available = []Available{}
		out = append(out, m)
	}
	return out
}

// Entry returns a module of a Kyma with the values of its status. It does not set Enabled, Channel and Available.
func Entry(k *v1alpha1.Kyma, name string, s v1alpha1.ModuleStatus) EnabledModule {
	return EnabledModule{
		Namespace: k.Namespace, Kyma: k.Name, Name: name, ActiveChannel: s.Channel, Version: s.Version,
		State: string(s.State), Reason: s.Reason, Manifest: s.Manifest, Message: s.Message,
	}
}

// others returns the offered versions of a module that differ from the installed one.
func others(offer Releases, m *EnabledModule) []Available {
	out := []Available{}
	for _, r := range offer.Of(m.Name) {
		if r.Version == "" || r.Version == m.Version || !selectable(r) {
			continue
		}
		out = append(out, Available{Channel: r.Channel, Version: r.Version, Newer: Lowers(m.Version, r.Version)})
	}
	return out
}

// selectable reports whether a Kyma can get a release by its channel: it has one, it is not the version of a mandatory module, and a
// ModuleTemplate provides it.
func selectable(r Release) bool {
	return r.Channel != "" && (r.ReleaseMeta == "" || r.Template != "" && r.Channel != v1alpha1.MandatoryChannel)
}

// ShownChannel returns the desired channel for a table, with the installed one in parentheses if it differs.
func (m *EnabledModule) ShownChannel() string {
	switch {
	case m.Channel == "":
		return m.ActiveChannel
	case m.ActiveChannel == "", m.ActiveChannel == m.Channel:
		return m.Channel
	}
	return m.Channel + " (is " + m.ActiveChannel + ")"
}
