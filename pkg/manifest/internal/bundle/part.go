// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A Part is a piece of a bundle that is rendered, applied and pruned on its own, so that its failure does not affect other parts.
type Part struct {
	Name object.PartID
	// Digest of the inputs. Equal digests mean equal desired objects. It is empty in an Outline.
	Digest string

	// Exactly one of CRDs, Install and Resource is set.
	CRDs     *source.Layer
	Install  *Install
	Resource *unstructured.Unstructured
	// Config of the bundle, for an install; nil if there is none.
	Config *source.Layer
}

// formatOfObjects is raised when the engine makes different objects from the same inputs, so that all are applied again.
const formatOfObjects = 1

// digestOf returns the digest of the inputs of the part. It is stored in clusters, so it leaves out inputs at their defaults: the
// digests of older versions stay the same.
func (p *Part) digestOf(b *Bundle) (string, error) {
	in := map[string]any{"format": formatOfObjects, "labels": b.Labels}
	if len(b.Transforms) > 0 {
		in["transforms"] = b.transformDigests()
	}
	switch {
	case p.CRDs != nil:
		in["crds"] = p.CRDs.Digest
	case p.Install != nil:
		in["source"], in["namespace"], in["values"] = p.Install.Digest, p.Install.Namespace, p.Install.Values
		if p.Install.Form != FormChart {
			in["form"] = p.Install.Form
		}
		if dir := p.Install.Directory(); dir != "." {
			in["path"] = dir
		}
		if p.Config != nil {
			in["config"] = p.Config.Digest
		}
	case p.Resource != nil:
		in["resource"] = p.Resource.Object
	}
	data, err := json.Marshal(in)
	if err != nil {
		return "", errors.Wrapf(err, "%s: cannot encode its inputs", p.Name)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}
