// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An EnabledModule is one module of a Kyma: wanted, or still being removed.
type EnabledModule struct {
	// Namespace and Kyma that the module is of.
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	// Name of the module.
	Name string `json:"name"`
	// Enabled is false for a module that is still being removed.
	Enabled bool `json:"enabled"`
	// Channel that is wanted; that of the Kyma where the module has none of its own.
	Channel string `json:"channel"`
	// Active channel and version are those of what is installed; empty where nothing is yet.
	ActiveChannel string `json:"activeChannel"`
	Version       string `json:"version"`
	// State of the module, empty as long as the provider has said nothing of it.
	State string `json:"state"`
	// Manifest of the module, by name.
	Manifest string `json:"manifest"`
	// Message says what to look at.
	Message string `json:"message"`
	// Available are versions other than the one that is installed, by channel.
	Available []Available `json:"available"`
}

// Available is another version of a module.
type Available struct {
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Newer than the version that is installed.
	Newer bool `json:"newer"`
}

// Unseen is said of what the provider has reported nothing about.
const Unseen = "the provider has not seen it yet"

// EnabledModules of Kymas, sorted by namespace, Kyma and name.
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

// modulesOf a Kyma: what the spec wants, and what the status has besides.
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

// Entry of a module in a Kyma, as the status has it.
func Entry(k *v1alpha1.Kyma, name string, s v1alpha1.ModuleStatus) EnabledModule {
	return EnabledModule{
		Namespace: k.Namespace, Kyma: k.Name, Name: name, ActiveChannel: s.Channel, Version: s.Version,
		State: string(s.State), Manifest: s.Manifest, Message: s.Message,
	}
}

// others are the versions of a module besides the one that is installed.
func others(offer Releases, m *EnabledModule) []Available {
	out := []Available{}
	for _, r := range offer.Of(m.Name) {
		if r.Version == "" || r.Version == m.Version {
			continue
		}
		out = append(out, Available{Channel: r.Channel, Version: r.Version, Newer: Lowers(m.Version, r.Version)})
	}
	return out
}

// ShownChannel is the channel that is wanted, and that which is installed where it is another one.
func (m *EnabledModule) ShownChannel() string {
	switch {
	case m.Channel == "":
		return m.ActiveChannel
	case m.ActiveChannel == "", m.ActiveChannel == m.Channel:
		return m.Channel
	}
	return m.Channel + " (is " + m.ActiveChannel + ")"
}
