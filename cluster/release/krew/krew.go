// SPDX-License-Identifier: Apache-2.0

package krew

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// Name is the name of the plugin: kubectl kyma.
const Name = "kyma"

// An Archive is an archive of kymactl for a platform.
type Archive struct {
	OS, Arch string
	// URL is the address of the archive, and SHA256 its checksum in hexadecimal.
	URL, SHA256 string
	// Binary is the path of kymactl in the archive.
	Binary string
}

type plugin struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name string `json:"name"`
}

type spec struct {
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Platforms        []platform `json:"platforms"`
}

type platform struct {
	Selector selector `json:"selector"`
	URI      string   `json:"uri"`
	SHA256   string   `json:"sha256"`
	Bin      string   `json:"bin"`
	Files    []file   `json:"files"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

type file struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const description = `Builds, signs, distributes and runs modules in Kubernetes clusters,
through a control plane with provider-kyma. The same program is available as kymactl.
`

// Manifest returns the manifest of the plugin in YAML. The platforms are sorted.
func Manifest(version, homepage string, archives ...Archive) ([]byte, error) {
	p := plugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: metadata{Name: Name},
		Spec: spec{Version: version, Homepage: homepage, ShortDescription: "Build, sign, distribute and run modules", Description: description},
	}
	sorted := slices.SortedFunc(slices.Values(archives), func(a, b Archive) int { return strings.Compare(a.OS+"/"+a.Arch, b.OS+"/"+b.Arch) })
	for _, a := range sorted {
		p.Spec.Platforms = append(p.Spec.Platforms, platform{
			Selector: selector{MatchLabels: map[string]string{"os": a.OS, "arch": a.Arch}},
			URI:      a.URL, SHA256: a.SHA256, Bin: a.Binary,
			// krew requires the license, and links only the binary.
			Files: []file{{From: a.Binary, To: "."}, {From: "LICENSE", To: "."}},
		})
	}
	out, err := yaml.Marshal(p)
	return out, errors.Wrap(err, "cannot encode the manifest for krew")
}
