// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// kinds holds a description of artifacts that are not modules, with advice, by the media type of their config or of the
// manifest itself.
var kinds = map[string]string{ //nolint:gochecknoglobals // A constant table.
	"application/vnd.oci.image.config.v1+json": "the artifact is a container image; to build a module on top of it, use kymactl module create --from",

	"application/vnd.docker.container.image.v1+json": "the artifact is a container image; to build a module on top of " +
		"it, use kymactl module create --from",

	"application/vnd.cncf.helm.config.v1+json": "the artifact is a Helm chart; to build a module from it, use kymactl module create",

	"application/vnd.oci.image.index.v1+json": "the artifact is a multi-platform image index",

	"application/vnd.docker.distribution.manifest.list.v2+json": "the artifact is a multi-platform image index",

	"application/vnd.oci.empty.v1+json": "the artifact is of another type, such as a signature",
}

// isModule returns an error if a manifest is known to be something other than a module.
func isModule(manifest []byte) error {
	var m struct {
		MediaType string `json:"mediaType"`
		Config    struct {
			MediaType string `json:"mediaType"`
		} `json:"config"`
		Manifests []any `json:"manifests"`
	}
	// A manifest that is not JSON has none of these fields; the next reader reports it.
	_ = json.Unmarshal(manifest, &m)
	what, known := kinds[m.MediaType]
	if !known {
		what, known = kinds[m.Config.MediaType]
	}
	if !known && len(m.Manifests) > 0 {
		what, known = kinds["application/vnd.oci.image.index.v1+json"], true
	}
	if !known {
		return nil
	}
	return ocm.Invalid(errors.Errorf("not a module: %s", what))
}
