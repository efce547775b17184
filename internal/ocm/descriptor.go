// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"encoding/json"
	"maps"
	"slices"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// A Descriptor is a component descriptor. It never changes, so it may be shared.
type Descriptor struct {
	// spec must not be handed out, nor to functions of the library that change it.
	spec *v2.ComponentDescriptor
	// raw is the same with all that the library does not know.
	raw []byte
}

// A Resource is something that a component consists of.
type Resource struct {
	Name     string
	Version  string
	Type     string // Such as helm-chart, yaml or ociImage.
	Relation string // "local" or "external".

	// ExtraIdentity tells resources of one name apart, or is nil.
	ExtraIdentity map[string]string

	// Digest is that of the content, or nil. A signature covers it.
	Digest *Digest

	// Access says where the content is. No signature covers it.
	Access Access
}

// A Digest is a hash with how it was computed.
type Digest struct {
	HashAlgorithm          string // sha256 or SHA-256; or NO-DIGEST.
	NormalisationAlgorithm string // genericBlobDigest/v1, ociArtifactDigest/v1 or jsonNormalisation/v1; or EXCLUDE-FROM-SIGNATURE.
	Value                  string // In hex, without an algorithm before it; or NO-DIGEST.
}

// A Reference names another component that belongs to this one.
type Reference struct {
	Name      string
	Component string
	Version   string
	// ExtraIdentity tells references of one name apart, or is nil.
	ExtraIdentity map[string]string
	// Digest is that of the other component's normalised descriptor, or nil.
	Digest *Digest
}

// ID is the ID of the component that is named.
func (r *Reference) ID() string { return r.Component + ":" + r.Version }

// A Signature is what a descriptor says about its signature. It proves nothing
// before Verify does.
type Signature struct {
	Name      string
	Digest    Digest // Of the normalised descriptor.
	Algorithm string // RSASSA-PKCS1-V1_5
	MediaType string
	Value     string
}

// Name returns the name of the component, such as kyma-project.io/module/sample.
func (d *Descriptor) Name() string { return d.spec.Name }

// Version returns the version of the component as written, such as v1.2.3+b5.
func (d *Descriptor) Version() string { return d.spec.Version }

// ID tells the component from others. No name contains a colon.
func (d *Descriptor) ID() string { return d.Name() + ":" + d.Version() }

// Provider returns who provides the component. Where the field holds JSON, as
// OCM writes it to keep labels, that is the name in it.
func (d *Descriptor) Provider() string {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(d.spec.Provider), &p) == nil && p.Name != "" {
		return p.Name
	}
	return string(d.spec.Provider)
}

// JSON returns the descriptor with all fields that were read, known or not, as
// JSON without blanks and with sorted keys. Decode reads it.
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
