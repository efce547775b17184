// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"path"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// An Install describes a Helm chart, plain objects or a kustomization, and how to install it.
type Install struct {
	source.Layer

	// Name is the name of the install, unique in the bundle. It is also the name of the Helm release, unless Config sets another
	// one.
	Name string

	// Form is the format of the content; by default a chart. You can change it: objects that the old and the new content have in
	// common are kept.
	Form Form

	// Path is the directory of a kustomization in the content; by default its root.
	Path string

	// Namespace is the namespace of the release, and of objects that do not specify one. It must not be empty.
	Namespace string

	// Values override the defaults of the chart. Plain objects and kustomizations must have none.
	Values map[string]any

	// Shared is true if Values contain no secrets, so that what a Renderer makes of them may be used for bundles of other tenants.
	Shared bool
}

// A Form is the format of the content of an install.
type Form string

// Formats of content.
const (
	// FormChart means a Helm chart. It is rendered, and recorded as a Helm release.
	FormChart Form = ""
	// FormPlain means unmodified objects: files named *.yaml, *.yml or *.json with any number of documents. Other files are ignored.
	// Nothing is rendered, and there is no Helm release.
	FormPlain Form = "plain"
	// FormKustomize means a kustomization and all files that it refers to. It is built without network access and without plugins.
	// There is no Helm release.
	FormKustomize Form = "kustomize"
)

// Title returns the name of a form for messages about features that only charts have.
func (f Form) Title() string {
	if f == FormKustomize {
		return "a kustomization"
	}
	return "plain objects"
}

// Directory returns the directory of the kustomization of an install, relative to the content.
func (i *Install) Directory() string {
	return path.Clean(cmp.Or(i.Path, "."))
}

func (i *Install) validate() error {
	switch {
	case i.Digest == "":
		return errors.New("digest is missing")
	case i.Namespace == "":
		return errors.New("namespace is missing")
	case i.Form != FormChart && i.Form != FormPlain && i.Form != FormKustomize:
		return errors.Errorf("unknown form %q", i.Form)
	case i.Path != "" && i.Form != FormKustomize:
		return errors.New("path is only supported for kustomizations; remove it")
	}
	return nil
}
