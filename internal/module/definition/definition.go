// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// FileName is the name of the file with a Definition.
const FileName = "module.yaml"

// A Definition defines the content of a module. Paths are relative to the directory of the definition, have slashes,
// and do not leave it.
type Definition struct {
	Name     string `json:"name"`               // Name of the component, such as example.org/module/greeter.
	Version  string `json:"version"`            // Semantic version.
	Channel  string `json:"channel,omitempty"`  // Default regular.
	Provider string `json:"provider,omitempty"` // Default internal.

	Charts         []Chart         `json:"charts,omitempty"`
	Manifests      []Manifest      `json:"manifests,omitempty"`
	Kustomizations []Kustomization `json:"kustomizations,omitempty"`
	CRDs           []string        `json:"crds,omitempty"`   // Files and directories with CRDs, applied first and removed last.
	Config         *Config         `json:"config,omitempty"` // How charts are installed.

	DefaultCustomResource string                   `json:"defaultCustomResource,omitempty"` // Path of a file.
	Readiness             []v1alpha1.ReadinessRule `json:"readiness,omitempty"`             // As in a ModuleTemplate.
	Sources               []Source                 `json:"sources,omitempty"`
	Labels                map[string]string        `json:"labels,omitempty"`
	// ListImages adds a resource for each image that the objects and hooks run, so that the component lists everything
	// that is installed.
	ListImages bool `json:"listImages,omitempty"`
}

// A Chart is a chart to install.
type Chart struct {
	Name string `json:"name,omitempty"` // Name of the install; default the name of the chart.
	Path string `json:"path"`           // A directory, or a packaged chart (.tgz).
	// Format is the format in which it is shipped: FormatLayer, which is the default, or FormatHelm.
	Format string `json:"format,omitempty"`
}

// Formats of charts.
const (
	// FormatLayer stores the chart as a layer of the module.
	FormatLayer = "layer"
	// FormatHelm stores the chart as an artifact in Helm's own format next to the module, charts/NAME:VERSION, which
	// helm can also pull and install.
	FormatHelm = "helm"
)

// A Manifest is plain YAML to install.
type Manifest struct {
	Name string `json:"name,omitempty"` // Name of the install; default raw-manifest if it is the only one, else from the path.
	Path string `json:"path"`           // A file, or a directory of .yaml, .yml and .json files.
}

// A Kustomization is built together with the module, and installed as plain YAML.
type Kustomization struct {
	Name string `json:"name,omitempty"` // As in a Manifest.
	Path string `json:"path"`           // A directory with a kustomization.yaml.
	// SplitCRDs moves its CRDs to the layer crds, so that they are applied first and removed last.
	SplitCRDs bool `json:"splitCRDs,omitempty"`
}

// A Config defines how charts are installed: by a file in the config format of Kyma's lifecycle manager, or by its
// entries.
type Config struct {
	Path    string        `json:"path,omitempty"`
	Configs []ConfigEntry `json:"configs,omitempty"`
}

// A ConfigEntry configures one install. ClientConfig and Overrides have the syntax of helm --set.
type ConfigEntry struct {
	Name         string `json:"name"`
	ClientConfig string `json:"clientConfig,omitempty"`
	Overrides    string `json:"overrides,omitempty"`
}

// A Source is a git repository from which the module was made.
type Source struct {
	Name       string `json:"name"`
	Repository string `json:"repository"`
	Ref        string `json:"ref,omitempty"`
	Commit     string `json:"commit,omitempty"`
}

// Defaults of a Definition.
const (
	DefaultChannel  = "regular"
	DefaultProvider = "internal"
)

// RawManifest is the default name of the only install of plain YAML.
const RawManifest = "raw-manifest"

// Reserved reports whether resources with the name have a meaning in a module, so that no install can have it.
// RawManifest is reserved for plain YAML.
func Reserved(name string) bool {
	switch name {
	case "crds", "config", RawManifest, "default-cr", "moduletemplate", "associated-resources":
		return true
	}
	return false
}

// Empty reports whether there is nothing to install.
func (d *Definition) Empty() bool {
	return len(d.Charts)+len(d.Manifests)+len(d.Kustomizations)+len(d.CRDs) == 0
}
