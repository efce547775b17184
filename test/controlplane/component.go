// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// A Component is a component version that PushComponent pushes.
type Component struct {
	// Name is the name of the component, for example example.org/module/x.
	Name string
	// Version is the semantic version of the component.
	Version string
	// Mapping maps the name to a repository. The default is ocm.URLPath.
	Mapping ocm.Mapping
	// OCM selects the media types and access types of OCM instead of those of component-spec.
	OCM bool
	// Resources are the resources of the component, in this order.
	Resources []ComponentResource
	// References are references to other components, which must be pushed separately.
	References []ComponentReference
	// Sign is the key that signs the descriptor, or nil for no signature.
	Sign *Signing
	// Tamper changes the JSON of the descriptor after it was signed.
	Tamper func(descriptor []byte) []byte
}

// A ComponentResource is one resource of a Component: Files, Data, or an Access.
type ComponentResource struct {
	// Name and Type are the name and the type of the resource in the descriptor.
	Name, Type string
	// Files are packed as a layer of the component: tar+gzip with the files at its root.
	Files Files
	// Data is a layer of the component, without changes.
	Data []byte
	// Access is the location of a resource that is not a layer of the component.
	Access map[string]any
	// Digest is the digest of a resource with an Access. The digest of a layer is computed.
	Digest *ocm.Digest
}

// A ComponentReference is a reference to another component.
type ComponentReference struct {
	Name, Component, Version string
	// Descriptor is the descriptor of the other component. A signature covers the content of a reference only if it is
	// set.
	Descriptor []byte
}

// Signing is the signature of a descriptor.
type Signing struct {
	// Name is the name of the signature.
	Name string
	Key  *rsa.PrivateKey
}

// A PushedComponent is a component in a registry.
type PushedComponent struct {
	// Repository is the repository of the component: host:port/path.
	Repository string
	// Digest is the digest of the manifest: sha256:….
	Digest string
	// Descriptor is the JSON of the descriptor in the registry.
	Descriptor []byte
}

// PushComponent pushes a component and its layers to a component repository, which is a path in the registry. The same
// component always produces the same bytes.
func (r *Registry) PushComponent(ctx context.Context, repository string, c Component) (PushedComponent, error) {
	pushed, err := r.pushComponent(ctx, repository, c)
	return pushed, errors.Wrapf(err, "cannot push component %s:%s", c.Name, c.Version)
}

func (r *Registry) pushComponent(ctx context.Context, repository string, c Component) (PushedComponent, error) {
	location := ocm.Location{BaseURL: r.Host() + "/" + repository, Mapping: c.Mapping}
	if location.Mapping == "" {
		location.Mapping = ocm.URLPath
	}
	base, last, err := location.Repository(c.Name)
	if err != nil {
		return PushedComponent{}, err
	}
	tag, err := ocm.Tag(c.Version)
	if err != nil {
		return PushedComponent{}, err
	}
	descriptor, blobs, err := c.describe(location)
	if err != nil {
		return PushedComponent{}, err
	}
	digest, err := r.pushArtifact(ctx, base+"/"+last+":"+tag, descriptor, blobs, c.OCM)
	return PushedComponent{Repository: base + "/" + last, Digest: digest, Descriptor: descriptor.JSON()}, err
}

// A componentBlob is a layer of a component.
type componentBlob struct {
	mediaType string
	data      []byte
}

// describe returns the descriptor and the layers of the component at a location.
func (c *Component) describe(location ocm.Location) (*ocm.Descriptor, []componentBlob, error) {
	var blobs []componentBlob
	resources, references := []any{}, []any{}
	for i := range c.Resources {
		resource, blob, err := c.resource(&c.Resources[i])
		if err != nil {
			return nil, nil, errors.Wrapf(err, "resource %s", c.Resources[i].Name)
		}
		resources = append(resources, resource)
		if blob != nil {
			blobs = append(blobs, *blob)
		}
	}
	for i := range c.References {
		reference, err := c.References[i].describe()
		if err != nil {
			return nil, nil, errors.Wrapf(err, "reference %s", c.References[i].Name)
		}
		references = append(references, reference)
	}
	kind := "ociRegistry"
	if c.OCM {
		kind = "OCIRegistry"
	}
	text, err := json.Marshal(map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{
			"name": c.Name, "version": c.Version, "provider": "internal", "sources": []any{},
			"repositoryContexts": []any{map[string]any{
				"type": kind, "baseUrl": location.BaseURL, "componentNameMapping": string(location.Mapping),
			}},
			"resources": resources, "componentReferences": references,
		},
	})
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot encode the descriptor")
	}
	d, err := c.finish(text)
	return d, blobs, err
}

// finish decodes a descriptor, and signs and tampers with it if requested.
func (c *Component) finish(text []byte) (*ocm.Descriptor, error) {
	d, err := ocm.Decode(text)
	if err == nil && c.Sign != nil {
		d, err = ocm.Sign(d, c.Sign.Name, c.Sign.Key)
	}
	if err == nil && c.Tamper != nil {
		d, err = ocm.Decode(c.Tamper(d.JSON()))
	}
	return d, err
}

// resource returns a resource for the descriptor, and its layer or nil.
func (c *Component) resource(r *ComponentResource) (map[string]any, *componentBlob, error) {
	out := map[string]any{"name": r.Name, "version": c.Version, "type": r.Type, "relation": "external", "access": r.Access}
	if r.Access != nil {
		if r.Digest != nil {
			out["digest"] = encodeDigest(*r.Digest)
		}
		return out, nil, nil
	}
	blob := &componentBlob{mediaType: "application/octet-stream", data: r.Data}
	if r.Files != nil {
		archive, err := r.Files.Archive("")
		if err != nil {
			return nil, nil, err
		}
		blob.mediaType, blob.data = string(moduleTar), archive
	}
	sum := sha256.Sum256(blob.data)
	value := hex.EncodeToString(sum[:])
	out["relation"] = "local"
	out["digest"] = encodeDigest(ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationBlob, Value: value})
	out["access"] = map[string]any{"type": ocm.AccessLocalOCIBlob, "digest": "sha256:" + value}
	if c.OCM {
		out["access"] = map[string]any{"type": ocm.AccessLocalBlob, "localReference": "sha256:" + value, "mediaType": blob.mediaType}
	}
	return out, blob, nil
}

// describe returns the reference for the descriptor.
func (r *ComponentReference) describe() (map[string]any, error) {
	out := map[string]any{"name": r.Name, "componentName": r.Component, "version": r.Version}
	if r.Descriptor == nil {
		return out, nil
	}
	d, err := ocm.Decode(r.Descriptor)
	if err != nil {
		return nil, err
	}
	hash, err := d.Hash()
	out["digest"] = encodeDigest(ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: "jsonNormalisation/v1", Value: hash})
	return out, err
}

func encodeDigest(d ocm.Digest) map[string]any {
	return map[string]any{"hashAlgorithm": d.HashAlgorithm, "normalisationAlgorithm": d.NormalisationAlgorithm, "value": d.Value}
}

// pushArtifact pushes the layers, the config and the manifest of a component, and returns the digest of the manifest.
func (r *Registry) pushArtifact(ctx context.Context, reference string, d *ocm.Descriptor, blobs []componentBlob, ocmTypes bool) (string, error) {
	ref, err := name.NewTag(reference)
	if err != nil {
		return "", errors.Wrapf(err, "cannot push to %q", reference)
	}
	layers := make([]artifact.Layer, 0, len(blobs))
	for _, b := range blobs {
		pushed, err := pushLayer(ref.Context(), static.NewLayer(b.data, types.MediaType(b.mediaType)), r.remoteOptions(ctx))
		if err != nil {
			return "", err
		}
		layers = append(layers, artifact.Layer{MediaType: b.mediaType, Digest: pushed.Digest.String(), Size: pushed.Size})
	}
	var options []artifact.Option
	if ocmTypes {
		options = append(options, artifact.OCMMediaTypes())
	}
	manifest, config, descriptor, err := artifact.Encode(d, layers, options...)
	if err != nil {
		return "", err
	}
	// The media types of these two are only in the manifest.
	for _, data := range [][]byte{config, descriptor} {
		if _, err := pushLayer(ref.Context(), static.NewLayer(data, types.OCILayer), r.remoteOptions(ctx)); err != nil {
			return "", err
		}
	}
	if err := remote.Put(ref, taggable(manifest), r.remoteOptions(ctx)...); err != nil {
		return "", errors.Wrapf(err, "cannot push the manifest to %q", strings.TrimSuffix(reference, ":"+ref.TagStr()))
	}
	sum := sha256.Sum256(manifest)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
