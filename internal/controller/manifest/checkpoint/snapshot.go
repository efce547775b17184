// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/compress"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// format changes when older snapshots can no longer be read. limit bounds an unpacked snapshot, in bytes.
//
// maxItems bounds its items, in the sense of yamlsize.CheckItems. An install has 208 bytes. Most memory per item, up to 700 bytes, takes
// a map with 13 members in the values of Secrets, so the items take at most 35 MiB. There are at most 32 installs, and the values of a
// large chart have 700 lists and objects.
const (
	format   = 1
	limit    = 8 << 20
	maxItems = 50_000
)

// A Snapshot contains all data that the bundle of a Manifest is built from: its parameters, in which values replace the
// references to values. It contains values of Secrets, so it is stored only in the target cluster.
type Snapshot struct {
	Format     int                         `json:"format"`
	Parameters v1alpha1.ManifestParameters `json:"parameters"`
	// Secrets lists the values that come from Secrets. Texts about the snapshot must not show them.
	Secrets []any `json:"hidden,omitempty"`

	// Digest identifies the content, and Data is its stored form.
	Digest string `json:"-"`
	Data   []byte `json:"-"`
}

// New returns the snapshot of a Manifest and of the bundle that was built from it. It omits the parameters that say
// how to install, which always come from the current Manifest.
func New(mr *v1alpha1.Manifest, bundle *manifest.Bundle, secrets []any) (*Snapshot, error) {
	s := &Snapshot{Format: format, Secrets: secrets}
	mr.Spec.ForProvider.DeepCopyInto(&s.Parameters)
	p := &s.Parameters
	p.Drift, p.Mode, p.ImmutableFields, p.Rollback, p.Adoption, p.Allowed, p.Impersonate = "", "", "", nil, "", nil, nil
	for i := range p.Installs {
		in := &p.Installs[i]
		in.ValuesFrom, in.Values = nil, nil
		if len(bundle.Installs[i].Values) == 0 {
			continue
		}
		b, err := json.Marshal(bundle.Installs[i].Values)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]: cannot encode values", in.Name)
		}
		in.Values = &runtime.RawExtension{Raw: b}
	}
	return s, s.Seal()
}

// Seal encodes a snapshot and sets its digest. Equal snapshots result in equal bytes. A snapshot that could not be read again has no data, so
// that it is not stored.
func (s *Snapshot) Seal() error {
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	// Embedded objects can have their fields in any order.
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &v); err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	if b, err = json.Marshal(v); err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	if yamlsize.CheckItems(b, maxItems) == nil && len(b) <= limit {
		if s.Data, err = compress.Gzip(b, gzip.DefaultCompression); err != nil {
			return errors.Wrap(err, "cannot compress the snapshot")
		}
	}
	sum := sha256.Sum256(b)
	s.Digest = hex.EncodeToString(sum[:8])
	return nil
}

// Read reads a stored snapshot. It returns nil if the snapshot cannot be used. Do not trust the content: everyone who
// can write Secrets in the target cluster may have changed it.
func Read(data []byte) *Snapshot {
	if len(data) == 0 {
		return nil
	}
	b, err := compress.Gunzip(data, limit)
	if err != nil || yamlsize.CheckItems(b, maxItems) != nil {
		return nil
	}
	s := &Snapshot{}
	if err := json.Unmarshal(b, s); err != nil || s.Format != format {
		return nil
	}
	sum := sha256.Sum256(b)
	s.Digest, s.Data = hex.EncodeToString(sum[:8]), data
	return s
}

// Restored returns a Manifest that installs the content of the snapshot, in the way that the current Manifest specifies.
func (s *Snapshot) Restored(mr *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := mr.DeepCopy()
	live := mr.Spec.ForProvider
	s.Parameters.DeepCopyInto(&out.Spec.ForProvider)
	p := &out.Spec.ForProvider
	p.Drift, p.Mode, p.ImmutableFields = live.Drift, live.Mode, live.ImmutableFields
	p.Rollback, p.Adoption, p.Allowed, p.Impersonate = live.Rollback, live.Adoption, live.Allowed, live.Impersonate
	return out
}

// Version returns the version that the parameters of a snapshot name, or an empty string.
func (s *Snapshot) Version() string {
	return VersionOf(&s.Parameters)
}

// VersionOf returns the version that parameters name, or that of their first install, or an empty string.
func VersionOf(p *v1alpha1.ManifestParameters) string {
	if p.Version == "" && len(p.Installs) > 0 {
		return p.Installs[0].Source.Version
	}
	return p.Version
}
