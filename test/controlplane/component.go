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

// A Component is a component version to push.
type Component struct {
	// Name is that of the component, as in example.org/module/x.
	Name string
	// Version is a semantic version.
	Version string
	// Mapping of the name to a repository. Default ocm.URLPath.
	Mapping ocm.Mapping
	// OCM writes the media types and access types of OCM, rather than those of
	// component-spec.
	OCM bool
	// Resources of the component, in this order.
	Resources []ComponentResource
	// References to other components, which are pushed by themselves.
	References []ComponentReference
	// Sign the descriptor, unless it is nil.
	Sign *Signing
	// Tamper with the descriptor, which is JSON, after it was signed.
	Tamper func(descriptor []byte) []byte
}

// A ComponentResource is one resource of a Component: Files, Data, or an Access.
type ComponentResource struct {
	// Name and Type as the descriptor has them.
	Name, Type string
	// Files become a layer of the component: tar+gzip with the files at its root.
	Files Files
	// Data becomes a layer of the component, as it is.
	Data []byte
	// Access says where the resource is, where it is not a layer of the component.
	Access map[string]any
	// Digest of a resource with an Access. That of a layer is known.
	Digest *ocm.Digest
}

// A ComponentReference is a reference to another component.
type ComponentReference struct {
	Name, Component, Version string
	// Descriptor of the other component. A signature covers a reference only with
	// it.
	Descriptor []byte
}

// Signing says by whom a descriptor is signed.
type Signing struct {
	// Name of the signature.
	Name string
	Key  *rsa.PrivateKey
}

// A PushedComponent is a component that a registry has.
type PushedComponent struct {
	// Repository of the component is host:port/path.
	Repository string
	// Digest of its manifest, sha256:….
	Digest string
	// Descriptor as it lies in the registry, JSON.
	Descriptor []byte
}

// PushComponent pushes a component and its layers to a repository of components,
// which is a path in the registry. The same component always makes the same bytes.
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

// describe the component, in a location.
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

// finish a descriptor: signed, and tampered with.
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

// resource as a descriptor has it, and its layer, if any.
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

// describe a reference as a descriptor has it.
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

// pushArtifact pushes what a component is in a registry, and returns the digest of
// its manifest.
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
	// The types of these two stand in the manifest only.
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
