// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// A Part is a piece of a bundle that is rendered, applied and pruned on its own, so that its failure does not affect other parts.
type Part struct {
	Name object.PartID
	// Digest is the digest of the inputs. Equal digests mean equal desired objects. Content is a digest of the inputs without
	// the labels of the bundle: if only Digest changes, the labels of the objects are updated, and no hook runs. Both are empty
	// in an Outline.
	Digest, Content string

	// Exactly one of CRDs, Install and Resource is set.
	CRDs     *source.Layer
	Install  *Install
	Resource *unstructured.Unstructured
	// Config is the config layer of the bundle if the part is an install; otherwise, or without a config layer, nil.
	Config *source.Layer
}

// formatOfObjects is increased when the engine makes different objects from the same inputs, so that all are applied again.
const formatOfObjects = 1

// Inputs returns both digests of the part.
func (p *Part) Inputs() inventory.Inputs {
	return inventory.Inputs{Digest: p.Digest, Content: p.Content}
}

// digestsOf returns the digests of the inputs of the part. Digests are stored in clusters, so digestsOf leaves out inputs that have
// their default values: the digests of older versions stay the same.
func (p *Part) digestsOf(b *Bundle) (inventory.Inputs, error) {
	in := map[string]any{"format": formatOfObjects}
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
	content, err := digest(in)
	if err != nil {
		return inventory.Inputs{}, errors.Wrapf(err, "%s: cannot encode the inputs", p.Name)
	}
	in["labels"] = b.Labels
	if b.Confinement != nil {
		in["confinement"] = b.Confinement.Digest
	}
	all, err := digest(in)
	return inventory.Inputs{Digest: all, Content: content}, err
}

func digest(in map[string]any) (string, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}
