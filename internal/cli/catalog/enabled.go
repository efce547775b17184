// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An enabledModule is one module of a Kyma: wanted, or still being removed.
type enabledModule struct {
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
	Available []available `json:"available"`
}

// available is another version of a module.
type available struct {
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Newer than the version that is installed.
	Newer bool `json:"newer"`
}

const unseen = "the provider has not seen it yet"

// enabledModules of Kymas, sorted by namespace, Kyma and name.
func enabledModules(kymas []v1alpha1.Kyma, offer releases) []enabledModule {
	out := []enabledModule{}
	for i := range kymas {
		out = append(out, modulesOf(&kymas[i], offer)...)
	}
	slices.SortFunc(out, func(a, b enabledModule) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kyma, b.Kyma), strings.Compare(a.Name, b.Name))
	})
	return out
}

// modulesOf a Kyma: what the spec wants, and what the status has besides.
func modulesOf(k *v1alpha1.Kyma, offer releases) []enabledModule {
	reported := make(map[string]v1alpha1.ModuleStatus, len(k.Status.AtProvider.Modules))
	for _, s := range k.Status.AtProvider.Modules {
		reported[s.Name] = s
	}
	var out []enabledModule
	for i := range k.Spec.ForProvider.Modules {
		wanted := &k.Spec.ForProvider.Modules[i]
		status, ok := reported[wanted.Name]
		delete(reported, wanted.Name)
		m := entry(k, wanted.Name, status)
		m.Enabled, m.Channel = true, channelOf(wanted.Channel, k.Spec.ForProvider.Channel)
		if !ok {
			m.Message = unseen
		}
		m.Available = others(offer, &m)
		out = append(out, m)
	}
	for name, status := range reported {
		m := entry(k, name, status)
		m.Available = []available{}
		out = append(out, m)
	}
	return out
}

func entry(k *v1alpha1.Kyma, name string, s v1alpha1.ModuleStatus) enabledModule {
	return enabledModule{
		Namespace: k.Namespace, Kyma: k.Name, Name: name, ActiveChannel: s.Channel, Version: s.Version,
		State: string(s.State), Manifest: s.Manifest, Message: s.Message,
	}
}

// others are the versions of a module besides the one that is installed.
func others(offer releases, m *enabledModule) []available {
	out := []available{}
	for _, r := range offer.of(m.Name) {
		if r.Version == "" || r.Version == m.Version {
			continue
		}
		out = append(out, available{Channel: r.Channel, Version: r.Version, Newer: lowers(m.Version, r.Version)})
	}
	return out
}

// summary of what is available, newer versions marked.
func summary(all []available) string {
	out := make([]string, 0, len(all))
	for _, a := range all {
		line := a.Version + " (" + a.Channel + ")"
		if a.Newer {
			line = "newer " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}
