// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// emptyType is the media type of the configuration of an artifact that has none.
	emptyType types.MediaType = "application/vnd.oci.empty.v1+json"
	// titleKey is the annotation with the name of a file, under which clients save it.
	titleKey = "org.opencontainers.image.title"
	// versionKey is the annotation with the release of a document. An artifact that two releases contain has the documents of both.
	versionKey = "org.opencontainers.image.version"
)

// A Document is an SBOM or a provenance.
type Document struct {
	// Name is the name of its file, and MediaType its type, which is also that of the artifact.
	Name, MediaType string
	Data            []byte
}

// An Artifact is an image or package that is pushed with a tag: an index, or a single manifest.
type Artifact struct {
	// Name is the last part of the repository.
	Name string
	// Tag is the tag of the artifact. The default is that of the release.
	Tag string
	// Manifest is a v1.Image or a v1.ImageIndex.
	Manifest partial.Describable
	// Documents describe the artifact, and Parts are the documents for manifests of an index, by digest.
	Documents []Document
	Parts     map[v1.Hash][]Document
}

// Push pushes an artifact to base/<name>:<tag>, and its documents as referrers. The tag is also the version of the documents. It returns
// the reference with the digest. A push of the same artifact changes nothing.
func Push(ctx context.Context, base, tag string, a Artifact) (name.Digest, error) {
	release, tag := tag, cmp.Or(a.Tag, tag)
	repository, err := name.NewRepository(base + "/" + a.Name)
	if err != nil {
		return name.Digest{}, errors.Wrap(err, "invalid registry")
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	subject, err := partial.Descriptor(a.Manifest)
	if err != nil {
		return name.Digest{}, errors.Wrapf(err, "cannot compute the digest of %s", a.Name)
	}
	if err := write(repository.Tag(tag), a.Manifest, options); err != nil {
		return name.Digest{}, errors.Wrapf(err, "cannot push %s", repository.Tag(tag))
	}
	if err := attach(repository, subject, release, a.Documents, options); err != nil {
		return name.Digest{}, err
	}
	index, ok := a.Manifest.(v1.ImageIndex)
	if !ok {
		return repository.Digest(subject.Digest.String()), nil
	}
	parts, err := index.IndexManifest()
	if err != nil {
		return name.Digest{}, errors.Wrapf(err, "cannot read the index %s", a.Name)
	}
	for i := range parts.Manifests {
		part := &parts.Manifests[i]
		if err := attach(repository, part, release, a.Parts[part.Digest], options); err != nil {
			return name.Digest{}, err
		}
	}
	return repository.Digest(subject.Digest.String()), nil
}

func write(tag name.Tag, manifest partial.Describable, options []remote.Option) error {
	switch m := manifest.(type) {
	case v1.ImageIndex:
		return remote.WriteIndex(tag, m, options...)
	case v1.Image:
		return remote.Write(tag, m, options...)
	}
	return errors.Errorf("unknown manifest %T", manifest)
}

// attach pushes documents of a release as referrers of a manifest.
func attach(repository name.Repository, subject *v1.Descriptor, release string, documents []Document, options []remote.Option) error {
	for _, d := range documents {
		config, layer := static.NewLayer([]byte("{}"), emptyType), static.NewLayer(d.Data, types.MediaType(d.MediaType))
		for _, l := range []v1.Layer{config, layer} {
			if err := remote.WriteLayer(repository, l, options...); err != nil {
				return errors.Wrapf(err, "cannot push %s to %s", d.Name, repository)
			}
		}
		manifest, err := referrer(subject, release, d, config, layer)
		if err != nil {
			return err
		}
		digest, err := partial.Digest(manifest)
		if err != nil {
			return errors.Wrapf(err, "cannot compute the digest of the manifest of %s", d.Name)
		}
		// A registry without the API for referrers gets an index with a tag that has the digest of the subject.
		if err := remote.Put(repository.Digest(digest.String()), manifest, options...); err != nil {
			return errors.Wrapf(err, "cannot push the manifest of %s to %s", d.Name, repository)
		}
	}
	return nil
}

// manifest is an encoded manifest.
type manifest []byte

// RawManifest returns the manifest.
func (m manifest) RawManifest() ([]byte, error) { return m, nil }

// MediaType returns the type of the manifest.
func (manifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// referrer returns the manifest of a document of a release.
func referrer(subject *v1.Descriptor, release string, d Document, config, layer v1.Layer) (manifest, error) {
	c, err := partial.Descriptor(config)
	if err != nil {
		return nil, errors.Wrap(err, "cannot describe an empty configuration")
	}
	l, err := partial.Descriptor(layer)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot describe %s", d.Name)
	}
	l.Annotations = map[string]string{titleKey: d.Name}
	raw, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: d.MediaType, Config: *c, Layers: []v1.Descriptor{*l},
		Subject:     &v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest},
		Annotations: map[string]string{titleKey: d.Name, versionKey: release},
	})
	return raw, errors.Wrapf(err, "cannot encode the manifest of %s", d.Name)
}
