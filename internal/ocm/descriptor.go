// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"encoding/json"
	"maps"
	"slices"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// A Descriptor is a component descriptor. It is immutable, so it may be shared.
type Descriptor struct {
	// spec must not be returned to callers, nor passed to functions of the library that change it.
	spec *v2.ComponentDescriptor
	// raw is the descriptor as JSON, including fields that the library does not know.
	raw []byte
}

// A Resource is one part of the content of a component, such as a chart or an image.
type Resource struct {
	Name     string
	Version  string
	Type     string // Such as helm-chart, yaml or ociImage.
	Relation string // "local" or "external".

	// ExtraIdentity distinguishes resources of the same name; it may be nil.
	ExtraIdentity map[string]string

	// Digest is the digest of the content, or nil. A signature covers it.
	Digest *Digest

	// Access is the location of the content. No signature covers it.
	Access Access
}

// A Digest is a hash with the algorithms by which it was computed.
type Digest struct {
	HashAlgorithm          string // sha256 or SHA-256; or NO-DIGEST.
	NormalisationAlgorithm string // genericBlobDigest/v1, ociArtifactDigest/v1 or jsonNormalisation/v1; or EXCLUDE-FROM-SIGNATURE.
	Value                  string // In hex, without a prefix for the algorithm; or NO-DIGEST.
}

// A Reference refers to another component that belongs to this one.
type Reference struct {
	Name      string
	Component string
	Version   string
	// ExtraIdentity distinguishes references of the same name; it may be nil.
	ExtraIdentity map[string]string
	// Digest is the digest of the normalised descriptor of the other component, or nil.
	Digest *Digest
}

// ID returns the ID of the component that it refers to.
func (r *Reference) ID() string { return r.Component + ":" + r.Version }

// A Signature is a signature as the descriptor contains it. It proves nothing until Verify has verified it.
type Signature struct {
	Name      string
	Digest    Digest // Digest of the normalised descriptor.
	Algorithm string // Such as RSASSA-PKCS1-V1_5.
	MediaType string
	Value     string
}

// Name returns the name of the component, such as kyma-project.io/module/sample.
func (d *Descriptor) Name() string { return d.spec.Name }

// Version returns the version of the component as written, such as v1.2.3+b5.
func (d *Descriptor) Version() string { return d.spec.Version }

// ID returns the unique ID of the component, NAME:VERSION. No name contains a colon.
func (d *Descriptor) ID() string { return d.Name() + ":" + d.Version() }

// Provider returns the name of the provider of the component. If the field contains JSON, which OCM writes to preserve
// labels, it returns the name in it.
func (d *Descriptor) Provider() string {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(d.spec.Provider), &p) == nil && p.Name != "" {
		return p.Name
	}
	return string(d.spec.Provider)
}

// JSON returns the descriptor with all fields that were read, known or not, as JSON without whitespace and with sorted
// keys. Decode accepts it.
func (d *Descriptor) JSON() []byte { return slices.Clone(d.raw) }

// Resources returns the resources in the order of the descriptor.
func (d *Descriptor) Resources() []Resource {
	out := make([]Resource, 0, len(d.spec.Resources))
	for i := range d.spec.Resources {
		r := &d.spec.Resources[i]
		out = append(out, Resource{
			Name: r.Name, Version: r.Version, Type: r.Type, Relation: string(r.Relation),
			ExtraIdentity: maps.Clone(map[string]string(r.ExtraIdentity)),
			Digest:        digestOf(r.Digest),
			Access:        accessOf(r.Access),
		})
	}
	return out
}

// References returns the references in the order of the descriptor.
func (d *Descriptor) References() []Reference {
	out := make([]Reference, 0, len(d.spec.ComponentReferences))
	for i := range d.spec.ComponentReferences {
		r := &d.spec.ComponentReferences[i]
		out = append(out, Reference{
			Name: r.Name, Component: r.ComponentName, Version: r.Version,
			ExtraIdentity: maps.Clone(map[string]string(r.ExtraIdentity)),
			Digest:        digestOf(r.Digest),
		})
	}
	return out
}

// Signatures returns the signatures in the order of the descriptor.
func (d *Descriptor) Signatures() []Signature {
	out := make([]Signature, 0, len(d.spec.Signatures))
	for i := range d.spec.Signatures {
		s := &d.spec.Signatures[i]
		out = append(out, Signature{
			Name:      s.Name,
			Digest:    Digest(s.Digest),
			Algorithm: s.Signature.Algorithm,
			MediaType: s.Signature.MediaType,
			Value:     s.Signature.Value,
		})
	}
	return out
}

func digestOf(d *v2.DigestSpec) *Digest {
	if d == nil {
		return nil
	}
	out := Digest(*d)
	return &out
}
