// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// maxConfig bounds the config blob of a component, in bytes.
const maxConfig = 1 << 20

// A Registry pulls manifests and blobs. Repositories are host[:port]/path, without a scheme. Errors name the
// repository.
type Registry interface {
	// Manifest returns a manifest and its digest, sha256:…. The reference is a tag or a digest.
	Manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error)
	// Blob returns the blob of a digest.
	Blob(ctx context.Context, repository, digest string) ([]byte, error)
}

// Fetch pulls the descriptor of a component, and returns it with the digest of the component's manifest. The reference
// is a version, or that digest (sha256:…). The error is an *ocm.InvalidError if the content is not this component in
// this version; other errors come from the registry.
func Fetch(ctx context.Context, r Registry, l ocm.Location, component, reference string) (*ocm.Descriptor, string, error) {
	d, digest, err := fetch(ctx, r, l, component, reference)
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot fetch component %.300q %.140q", component, reference)
	}
	return d, digest, nil
}

func fetch(ctx context.Context, r Registry, l ocm.Location, component, reference string) (*ocm.Descriptor, string, error) {
	repo, name, err := l.Repository(component)
	if err != nil {
		return nil, "", ocm.Invalid(err)
	}
	repository := repo + "/" + name
	tag, version := reference, ""
	if !isDigest.MatchString(reference) {
		version = reference
		if tag, err = ocm.Tag(reference); err != nil {
			return nil, "", ocm.Invalid(err)
		}
	}
	data, digest, err := r.Manifest(ctx, repository, tag)
	if err != nil {
		return nil, "", err
	}
	if got := digestOfBlob(data); got != digest || version == "" && got != reference {
		return nil, "", ocm.Invalid(errors.Errorf("the manifest has digest %s instead of the requested one", got))
	}
	d, err := Describe(ctx, r, repository, data)
	if err != nil {
		return nil, "", err
	}
	if d.Name() != component {
		return nil, "", ocm.Invalid(errors.Errorf("repository %q contains a different component: %q", repository, d.Name()))
	}
	if version != "" && d.Version() != version {
		return nil, "", ocm.Invalid(errors.Errorf("tag %q in repository %q refers to a different version: %q", tag, repository, d.Version()))
	}
	return d, digest, nil
}

// Describe pulls the descriptor of the component whose manifest is data, from a repository: first the config, which
// identifies the layer with the descriptor. It does not check whether the component belongs to the repository. It
// returns the same kinds of errors as Fetch.
func Describe(ctx context.Context, r Registry, repository string, data []byte) (*ocm.Descriptor, error) {
	m, err := readManifest(data)
	if err != nil {
		return nil, ocm.Invalid(err)
	}
	configData, err := pull(ctx, r, repository, m.Config, maxConfig)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the config of the component")
	}
	layer, err := descriptorLayer(m, configData)
	if err != nil {
		return nil, ocm.Invalid(err)
	}
	layerData, err := pull(ctx, r, repository, layer, maxLayer)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the layer of the component descriptor")
	}
	d, err := readLayer(layer.MediaType, layerData)
	if err != nil {
		return nil, ocm.Invalid(err)
	}
	return d, nil
}

func readManifest(data []byte) (*manifest, error) {
	if len(data) > maxManifest {
		return nil, errors.Errorf("not a component: the manifest is larger than the limit of %d bytes", maxManifest)
	}
	var m manifest
	if json.Unmarshal(data, &m) != nil {
		return nil, errors.New("not a component: the manifest is not valid JSON")
	}
	switch m.Config.MediaType {
	case CNUDIEConfig, OCMConfig, legacyConfig:
		return &m, nil
	case "":
		return nil, errors.Errorf("not a component: the manifest has type %.100q and no config", m.MediaType)
	}
	return nil, errors.Errorf("not a component: the config has type %.100q, expected %q or %q", m.Config.MediaType, CNUDIEConfig, OCMConfig)
}

// descriptorLayer returns the layer that the config refers to, with its media type in the manifest.
func descriptorLayer(m *manifest, configData []byte) (blob, error) {
	var c config
	if json.Unmarshal(configData, &c) != nil {
		return blob{}, errors.New("not a component: the config is not valid JSON")
	}
	if c.Layer == nil || c.Layer.Digest == "" {
		return blob{}, errors.New("not a component: the config has no field componentDescriptorLayer.digest")
	}
	i := slices.IndexFunc(m.Layers, func(b blob) bool { return b.Digest == c.Layer.Digest })
	if i < 0 {
		return blob{}, errors.Errorf("not a component: the config refers to layer %.100q, which is not in the manifest", c.Layer.Digest)
	}
	return m.Layers[i], nil
}

// pull returns the content of a blob of at most limit bytes, after verifying its digest.
func pull(ctx context.Context, r Registry, repository string, b blob, limit int64) ([]byte, error) {
	if !isDigest.MatchString(b.Digest) {
		return nil, ocm.Invalid(errors.Errorf("malformed digest %.100q: must be sha256: followed by 64 hexadecimal digits", b.Digest))
	}
	if b.Size > limit {
		return nil, ocm.Invalid(errors.Errorf("content is larger than the limit of %d bytes", limit))
	}
	data, err := r.Blob(ctx, repository, b.Digest)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ocm.Invalid(errors.Errorf("content is larger than the limit of %d bytes", limit))
	}
	if got := digestOfBlob(data); got != b.Digest {
		return nil, ocm.Invalid(errors.Errorf("digest mismatch: blob %s has digest %s", b.Digest, got))
	}
	return data, nil
}
