// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"path"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// An Install is a Helm chart, plain objects or a kustomization, and how to install it.
type Install struct {
	source.Layer

	// Name of the install, which is that of the Helm release unless the config of the bundle has another one. It must be
	// unique in the bundle.
	Name string

	// Form of the content; by default a chart. It may change: the objects that both have stay.
	Form Form

	// Path of the directory of a kustomization in the content; by default its root.
	Path string

	// Namespace of the release, and of the objects that name none. It must not be empty.
	Namespace string

	// Values override those of the chart. Plain objects and a kustomization must have none.
	Values map[string]any
}

// A Form says what the content of an install is.
type Form string

// The forms of content.
const (
	// FormChart is a Helm chart. It is rendered, and recorded as a Helm release.
	FormChart Form = ""
	// FormPlain is objects as they are: files .yaml, .yml and .json, of any number of documents; other files do not count.
	// Nothing is rendered, and there is no Helm release.
	FormPlain Form = "plain"
	// FormKustomize is a kustomization with all that it refers to. It is built without any access to the network, and
	// without plugins. There is no Helm release.
	FormKustomize Form = "kustomize"
)

// Title returns what a form is called in messages about what only charts can have.
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
		return errors.New("has no digest")
	case i.Namespace == "":
		return errors.New("has no namespace")
	case i.Form != FormChart && i.Form != FormPlain && i.Form != FormKustomize:
		return errors.Errorf("form %q is unknown", i.Form)
	case i.Path != "" && i.Form != FormKustomize:
		return errors.New("has a path, which is for a kustomization only")
	}
	return nil
}
