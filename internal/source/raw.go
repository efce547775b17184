// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/source/digest"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func init() {
	Register(v1alpha1.SourceTypeRaw, func(s v1alpha1.Source) Source {
		if s.Inline != "" {
			return &inline{text: s.Inline}
		}
		return &raw{blob: blobOf(s)}
	})
}

// Raw returns the source of plain YAML in a layer.
func Raw(repo, name, ref string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Repo: repo, Name: name, Ref: ref}
}

// raw is plain YAML in a layer.
type raw struct{ blob }

// Content returns the YAML as plain objects.
func (r *raw) Content() Content {
	return Content{
		Digest: digest.OfBlob(digest.Plain, r.ref), Form: engine.FormPlain,
		Fetch: r.fetch(Puller.Layer), Read: archive.ReadLayer,
	}
}

// inline is plain YAML in a spec.
type inline struct{ text string }

// String returns "inline", because the text has no address.
func (*inline) String() string { return "inline" }

// Validate accepts any text.
func (*inline) Validate() error { return nil }

// SignedDigest returns an error, because signatures cover only layers.
func (*inline) SignedDigest() (string, error) { return "", errNoDigest() }

// Content returns the YAML as plain objects.
func (i *inline) Content() Content {
	sum := sha256.Sum256([]byte(i.text))
	ref := "sha256:" + hex.EncodeToString(sum[:])
	return Content{
		Digest: digest.OfText(digest.Plain, ref), Form: engine.FormPlain,
		Fetch: func(context.Context, Puller, RegistriesFunc) (pull.Artifact, error) {
			return pull.Artifact{Data: []byte(i.text), Digest: ref}, nil
		},
		Read: func(data []byte, _ archive.Limits) ([]archive.File, error) {
			return []archive.File{{Name: "inline.yaml", Data: data}}, nil
		},
	}
}
