// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// typeTree has a name that the API will never use. Registering a name twice panics.
const typeTree v1alpha1.SourceType = "test-tree"

// Text is the content of each tree.
const Text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-tree}}\n"

func init() {
	source.Register(typeTree, func(s v1alpha1.Source) source.Source { return &tree{url: s.URL, digest: s.Ref} })
}

// Tree returns the source of a tree of files at a URL, identified by its digest.
func Tree(url, digest string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: typeTree, URL: url, Ref: digest}
}

type tree struct{ url, digest string }

// String returns url@digest.
func (t *tree) String() string { return t.url + "@" + t.digest }

// Validate returns an error if the URL is missing.
func (t *tree) Validate() error {
	if t.url == "" {
		return errors.New("the URL of the tree is missing")
	}
	return nil
}

// SignedDigest returns the digest of the tree.
func (t *tree) SignedDigest() (string, error) {
	if t.digest == "" {
		return "", errors.New("a tree without a digest can change")
	}
	return t.digest, nil
}

// Content returns the tree as plain objects.
func (t *tree) Content() source.Content {
	return source.Content{
		Digest: "tree " + t.String(), Form: manifest.FormPlain, Read: archive.ReadLayer,
		Fetch: func(context.Context, source.Puller, source.RegistriesFunc) (pull.Artifact, error) {
			return pull.Artifact{Data: []byte(Text), Digest: t.digest}, nil
		},
	}
}
