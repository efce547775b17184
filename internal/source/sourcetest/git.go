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

// typeGit is a type that is not in the API.
const typeGit v1alpha1.SourceType = "git"

// Text is what each repository holds.
const Text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-git}}\n"

func init() {
	source.Register(typeGit, func(s v1alpha1.Source) source.Source { return &git{url: s.URL, tree: s.Ref} })
}

// Git returns the source of a tree, by its digest, of a repository.
func Git(url, tree string) *v1alpha1.Source {
	return &v1alpha1.Source{Type: typeGit, URL: url, Ref: tree}
}

type git struct{ url, tree string }

// String returns url@tree.
func (g *git) String() string { return g.url + "@" + g.tree }

// Validate checks that there is a URL.
func (g *git) Validate() error {
	if g.url == "" {
		return errors.New("its repository has no URL")
	}
	return nil
}

// SignedDigest returns that of the tree.
func (g *git) SignedDigest() (string, error) {
	if g.tree == "" {
		return "", errors.New("a branch can move")
	}
	return g.tree, nil
}

// Content is plain objects.
func (g *git) Content() source.Content {
	return source.Content{
		Digest: "git " + g.String(), Form: manifest.FormPlain, Read: archive.ReadLayer,
		Fetch: func(context.Context, source.Puller) (pull.Artifact, error) {
			return pull.Artifact{Data: []byte(Text), Digest: g.tree}, nil
		},
	}
}
