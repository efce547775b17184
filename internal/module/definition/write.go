// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"regexp"
	"strings"
	"text/template"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// firstVersion is the default version of a new module.
const firstVersion = "0.1.0"

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// Suggest returns the given name and version. If one is empty, it comes from the directory, or else is a placeholder.
func (f *Found) Suggest(name, version string) (suggestedName, suggestedVersion string) {
	if name == "" {
		name = f.Name
	}
	if name == "" {
		last := strings.Trim(notName.ReplaceAllString(strings.ToLower(f.Chart), "-"), "-")
		if name = "example.org/module/" + last; CheckName(name) != nil {
			name = "example.org/module/my-module"
		}
	}
	if version == "" {
		version = f.Version
	}
	if version == "" {
		version = firstVersion
	}
	return name, version
}

// Write returns a definition as YAML with comments, which Parse reads. Kind describes what it was derived from, such as
// "a chart", or is empty.
func Write(d *Definition, kind string) ([]byte, error) {
	t, err := template.New(FileName).Funcs(template.FuncMap{"yaml": section}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, map[string]any{"d": d, "kind": kind}); err != nil {
		return nil, errors.Wrapf(err, "cannot write %s", FileName)
	}
	return out.Bytes(), nil
}

// section returns a field with its value as YAML.
func section(field string, value any) (string, error) {
	data, err := yaml.Marshal(map[string]any{field: value})
	return strings.TrimSuffix(string(data), "\n"), err
}

const text = `# The content of the module.{{ if .kind }} Detected: {{ .kind }}.{{ else }} Remove the # from the fields that you need.{{ end }}
# To create the module, run: kymactl module create -o module.tar
# Paths are relative to this file, use slashes, and must not leave its directory.

# The name of the component: a domain that you own, and a path. The last element is the name of the module.
{{ yaml "name" .d.Name }}
{{ yaml "version" .d.Version }}

# The release channel of the ModuleTemplate: 3 to 32 lowercase letters, digits or -.
{{ yaml "channel" (or .d.Channel "` + DefaultChannel + `") }}

# The provider of the module.
{{ yaml "provider" (or .d.Provider "` + DefaultProvider + `") }}

# Charts: directories or packaged charts (.tgz). Dependencies must be in the charts directory of the chart.
{{ if .d.Charts }}{{ yaml "charts" .d.Charts }}{{ else }}# charts:
# - path: charts/greeter
#   name: greeter             # Name of the install; default: the name of the chart.
#   format: layer             # A layer of the module. With helm, the chart is a separate artifact, which helm can also pull.{{ end }}

# Plain YAML: files, or directories with their subdirectories.
{{ if .d.Manifests }}{{ yaml "manifests" .d.Manifests }}{{ else }}# manifests:
# - path: manifests
#   name: extra               # Default: raw-manifest for a single entry, otherwise derived from the path.{{ end }}

# Kustomizations, which are built when the module is created. Nothing is fetched.
{{ if .d.Kustomizations }}{{ yaml "kustomizations" .d.Kustomizations }}{{ else }}# kustomizations:
# - path: config/default
#   splitCRDs: true           # Put its CRDs into crds.{{ end }}

# Files and directories with CustomResourceDefinitions, which are installed first and removed last.
{{ if .d.CRDs }}{{ yaml "crds" .d.CRDs }}{{ else }}# crds:
# - crds{{ end }}

# How charts are installed: a file (path), or entries (configs) with strings in the syntax of helm --set.
{{ if .d.Config }}{{ yaml "config" .d.Config }}{{ else }}# config:
#   configs:
#   - name: greeter
#     clientConfig: Namespace=greeter-system,CreateNamespace=true
#     overrides: replicas=2{{ end }}

# A file with the custom resource that configures the module.
{{ if .d.DefaultCustomResource }}{{ yaml "defaultCustomResource" .d.DefaultCustomResource }}{{ else }}# defaultCustomResource: default.yaml{{ end }}

# When the module is ready: CEL expressions about its custom resource, or about the kind in for.
{{ if .d.Readiness }}{{ yaml "readiness" .d.Readiness }}{{ else }}# readiness:
# - cel: object.status.state == "Ready"{{ end }}

# The repositories with the source code of the module, without credentials.
{{ if .d.Sources }}{{ yaml "sources" .d.Sources }}{{ else }}# sources:
# - name: greeter
#   repository: https://git.example.org/team/greeter
#   ref: main{{ end }}

# List the images that containers run as resources of the component, for scanners and mirrors.
{{ if .d.ListImages }}{{ yaml "listImages" .d.ListImages }}{{ else }}# listImages: true{{ end }}

# Labels of the component and of its ModuleTemplates.
{{ if .d.Labels }}{{ yaml "labels" .d.Labels }}{{ else }}# labels:
#   example.org/team: blue{{ end }}
`
