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

const text = `# What this module consists of.{{ if .kind }} It was found to be {{ .kind }}.{{ else }} Take away the # before what it has.{{ end }}
# Make the module with: kymactl module create -o module.tar
# Paths are relative to this file. They have slashes, and do not leave its directory.

# The component: a domain that is yours, and a path. The last element is how the module is called.
{{ yaml "name" .d.Name }}
{{ yaml "version" .d.Version }}

# The release channel for which a ModuleTemplate is made: 3 to 32 lower case letters, digits and -.
{{ yaml "channel" (or .d.Channel "` + DefaultChannel + `") }}

# Who provides the module.
{{ yaml "provider" (or .d.Provider "` + DefaultProvider + `") }}

# Charts, each a directory or a packed chart (.tgz). Their dependencies must lie in their charts directory.
{{ if .d.Charts }}{{ yaml "charts" .d.Charts }}{{ else }}# charts:
# - path: charts/greeter
#   name: greeter             # Of the install; default that of the chart.
#   format: layer             # Of the module; with helm it is an artifact of its own, which helm pulls too.{{ end }}

# Plain YAML, each a file, or a directory with what is below it.
{{ if .d.Manifests }}{{ yaml "manifests" .d.Manifests }}{{ else }}# manifests:
# - path: manifests
#   name: extra               # Default raw-manifest if it is the only one, and else from the path.{{ end }}

# Kustomizations, which are built when the module is. Nothing is fetched.
{{ if .d.Kustomizations }}{{ yaml "kustomizations" .d.Kustomizations }}{{ else }}# kustomizations:
# - path: config/default
#   splitCRDs: true           # Put its CRDs into crds.{{ end }}

# Files and directories with CustomResourceDefinitions, which are installed first and removed last.
{{ if .d.CRDs }}{{ yaml "crds" .d.CRDs }}{{ else }}# crds:
# - crds{{ end }}

# How charts are installed: a file (path), or entries. The texts are as those of helm --set.
{{ if .d.Config }}{{ yaml "config" .d.Config }}{{ else }}# config:
#   configs:
#   - name: greeter
#     clientConfig: Namespace=greeter-system,CreateNamespace=true
#     overrides: replicas=2{{ end }}

# A file with the custom resource that the module is configured by.
{{ if .d.DefaultCustomResource }}{{ yaml "defaultCustomResource" .d.DefaultCustomResource }}{{ else }}# defaultCustomResource: default.yaml{{ end }}

# When the module is ready: CEL, about its custom resource or the kind named in for.
{{ if .d.Readiness }}{{ yaml "readiness" .d.Readiness }}{{ else }}# readiness:
# - cel: object.status.state == "Ready"{{ end }}

# Where the module comes from, without credentials.
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
