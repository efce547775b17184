// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"strings"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// Types of access that this package interprets. OCM appends a version to a type, and has new names for some;
// Access.Type holds the names given here.
const (
	AccessLocalOCIBlob = "localOciBlob" // A layer of the component's own manifest.
	AccessLocalBlob    = "localBlob"    // The same, as OCM names it.
	AccessOCIBlob      = "ociBlob"      // A blob of another repository.
	AccessOCIRegistry  = "ociRegistry"  // An image or another artifact in a registry.
	AccessOCIArtifact  = "ociArtifact"  // The same, as OCM names it.
	AccessRelativeOCI  = "relativeOciReference"
	AccessHelmChart    = "helmChartRepository" // A chart in a chart repository; a type of Kyma.
	AccessNone         = "None"                // There is no content.
)

// An Access is the location of the content of a resource. Fields that a type does not have are empty.
type Access struct {
	// Type is one of the constants above, or any other type in the descriptor.
	Type string

	// Digest is the digest of a blob, sha256:…: localOciBlob.digest, localBlob.localReference or ociBlob.digest.
	Digest string

	// MediaType is the media type of a blob.
	MediaType string

	// Reference is the imageReference of an artifact, the ref of an ociBlob, or the reference of a
	// relativeOciReference.
	Reference string

	// ChartURL, ChartName and ChartVersion are the fields of a helmChartRepository.
	ChartURL     string
	ChartName    string
	ChartVersion string

	// Fields holds all fields of an access of an unknown type as a JSON object, for New to write them again. Only
	// Component sets it.
	Fields string
}

// IsLocal reports whether the content is a layer of the component's own manifest.
func (a Access) IsLocal() bool { return a.Type == AccessLocalOCIBlob || a.Type == AccessLocalBlob }

// accessNames maps other spellings of types to the names above.
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

// accessType returns a type under the name used here, without its version, which is v1 for all known types.
func accessType(t string) string {
	t = strings.TrimSuffix(t, "/v1")
	if name, ok := accessNames[t]; ok {
		return name
	}
	return t
}
