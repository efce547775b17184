// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// FileName is the file that holds a Definition.
const FileName = "module.yaml"

// A Definition says what a module consists of. Paths are relative to the directory
// of the definition, have slashes, and do not leave it.
type Definition struct {
	Name     string `json:"name"`               // Of the component, as example.org/module/greeter.
	Version  string `json:"version"`            // Semantic.
	Channel  string `json:"channel,omitempty"`  // Default regular.
	Provider string `json:"provider,omitempty"` // Default internal.

	Charts         []Chart         `json:"charts,omitempty"`
	Manifests      []Manifest      `json:"manifests,omitempty"`
	Kustomizations []Kustomization `json:"kustomizations,omitempty"`
	CRDs           []string        `json:"crds,omitempty"`   // Files and directories of CRDs, applied first and removed last.
	Config         *Config         `json:"config,omitempty"` // How charts are installed.

	DefaultCustomResource string                   `json:"defaultCustomResource,omitempty"` // A file.
	Readiness             []v1alpha1.ReadinessRule `json:"readiness,omitempty"`             // As in a ModuleTemplate.
	Sources               []Source                 `json:"sources,omitempty"`
	Labels                map[string]string        `json:"labels,omitempty"`
	// ListImages adds a resource for each image that the objects and hooks run, so that the component lists all that is installed.
	ListImages bool `json:"listImages,omitempty"`
}

// A Chart is a chart to install.
type Chart struct {
	Name string `json:"name,omitempty"` // Of the install; default that of the chart.
	Path string `json:"path"`           // A directory, or a packaged chart (.tgz).
	// Format in which it is shipped: FormatLayer, which is the default, or FormatHelm.
	Format string `json:"format,omitempty"`
}

// Formats of charts.
const (
	// FormatLayer makes the chart a layer of the module.
	FormatLayer = "layer"
	// FormatHelm makes it an artifact of Helm's own type beside the module, charts/NAME:VERSION, which helm pulls and
	// installs too.
	FormatHelm = "helm"
)

// A Manifest is plain YAML to install.
type Manifest struct {
	Name string `json:"name,omitempty"` // Of the install; default raw-manifest if it is the only one, else that of the file or directory.
	Path string `json:"path"`           // A file, or a directory of .yaml, .yml and .json files.
}

// A Kustomization is built when the module is, and installed as plain YAML.
type Kustomization struct {
	Name string `json:"name,omitempty"` // As of a Manifest.
	Path string `json:"path"`           // A directory with a kustomization.yaml.
	// SplitCRDs puts the CRDs that it makes into the layer crds, so that they come first and go last.
	SplitCRDs bool `json:"splitCRDs,omitempty"`
}

// A Config says how charts are installed: a file in the format of the original, or its entries.
type Config struct {
	Path    string        `json:"path,omitempty"`
	Configs []ConfigEntry `json:"configs,omitempty"`
}

// A ConfigEntry is for one install; both texts are in the grammar of helm --set.
type ConfigEntry struct {
	Name         string `json:"name"`
	ClientConfig string `json:"clientConfig,omitempty"`
	Overrides    string `json:"overrides,omitempty"`
}

// A Source is where the module comes from.
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

// RawManifest is the name of the only install of plain YAML, unless it has another one.
const RawManifest = "raw-manifest"

// Reserved says whether resources of a name mean something to a module, so that no install can have it. RawManifest is
// reserved for plain YAML.
func Reserved(name string) bool {
	switch name {
	case "crds", "config", RawManifest, "default-cr", "moduletemplate", "associated-resources":
		return true
	}
	return false
}

// Empty says that there is nothing to install.
func (d *Definition) Empty() bool {
	return len(d.Charts)+len(d.Manifests)+len(d.Kustomizations)+len(d.CRDs) == 0
}
