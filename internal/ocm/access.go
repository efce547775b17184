// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"strings"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// The types of access that mean something to us. OCM writes a version behind a
// type, and new names for some; Access.Type holds the names given here.
const (
	AccessLocalOCIBlob = "localOciBlob" // A layer of the component's own manifest.
	AccessLocalBlob    = "localBlob"    // The same, as OCM names it.
	AccessOCIBlob      = "ociBlob"      // A blob of another repository.
	AccessOCIRegistry  = "ociRegistry"  // An image or another artifact in a registry.
	AccessOCIArtifact  = "ociArtifact"  // The same, as OCM names it.
	AccessRelativeOCI  = "relativeOciReference"
	AccessHelmChart    = "helmChartRepository" // Kyma's own: a chart in a chart repository.
	AccessNone         = "None"                // There is no content.
)

// Access says where the content of a resource is. Fields that a type does not
// have are empty.
type Access struct {
	// Type is one of the constants above, or whatever else the descriptor says.
	Type string

	// Digest is the digest of a blob, sha256:…: localOciBlob.digest,
	// localBlob.localReference or ociBlob.digest.
	Digest string

	// MediaType is that of a blob.
	MediaType string

	// Reference is imageReference of an artifact, ref of an ociBlob, or
	// reference of a relativeOciReference.
	Reference string

	// ChartURL, ChartName and ChartVersion are those of a helmChartRepository.
	ChartURL     string
	ChartName    string
	ChartVersion string

	// Fields are all fields of an access whose type means nothing to us, as a JSON object, for New to write them again.
	// Only Component sets them.
	Fields string
}

// IsLocal reports whether the content is a layer of the component's own manifest.
func (a Access) IsLocal() bool { return a.Type == AccessLocalOCIBlob || a.Type == AccessLocalBlob }

// accessNames are other spellings of types.
var accessNames = map[string]string{ //nolint:gochecknoglobals // A constant, which Go has no maps of.
	"LocalBlob": AccessLocalBlob,
	"OCIBlob":   AccessOCIBlob,
	"ociImage":  AccessOCIArtifact,
	"OCIImage":  AccessOCIArtifact,
	"none":      AccessNone,
}

func accessOf(u *v2.UnstructuredTypedObject) Access {
	if u == nil {
		return Access{Type: AccessNone}
	}
	text := func(key string) string {
		s, _ := u.Object[key].(string)
		return s
	}
	a := Access{Type: accessType(u.GetType()), MediaType: text("mediaType")}
	switch a.Type {
	case AccessLocalOCIBlob:
		a.Digest = text("digest")
	case AccessLocalBlob:
		a.Digest = text("localReference")
	case AccessOCIBlob:
		a.Digest, a.Reference = text("digest"), text("ref")
	case AccessOCIRegistry, AccessOCIArtifact:
		a.Reference = text("imageReference")
	case AccessRelativeOCI:
		a.Reference = text("reference")
	case AccessHelmChart:
		a.ChartURL, a.ChartName, a.ChartVersion = text("helmChartRepoUrl"), text("helmChartName"), text("helmChartVersion")
	}
	return a
}

// accessType returns a type without its version, which is v1 wherever we know one.
func accessType(t string) string {
	t = strings.TrimSuffix(t, "/v1")
	if name, ok := accessNames[t]; ok {
		return name
	}
	return t
}
