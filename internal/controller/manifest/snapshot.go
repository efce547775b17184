// SPDX-License-Identifier: Apache-2.0

package manifest

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
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// snapshotFormat changes when older snapshots can no longer be read. snapshotLimit bounds an unpacked snapshot, in bytes.
const (
	snapshotFormat = 1
	snapshotLimit  = 8 << 20
)

// A snapshot contains all data that the bundle of a Manifest is built from: its parameters, in which values replace the
// references to values. It contains values of Secrets, so it is stored only in the target cluster.
type snapshot struct {
	Format     int                         `json:"format"`
	Parameters v1alpha1.ManifestParameters `json:"parameters"`
	// Secrets lists the values that come from Secrets. Texts about the snapshot must not show them.
	Secrets []any `json:"hidden,omitempty"`

	// digest identifies the content, and data is its stored form.
	digest string
	data   []byte
}

// snapshotOf returns the snapshot of a Manifest and of the bundle that was built from it. It omits the parameters that say
// how to install, which always come from the current Manifest.
func snapshotOf(mr *v1alpha1.Manifest, bundle *manifest.Bundle, secrets []any) (*snapshot, error) {
	s := &snapshot{Format: snapshotFormat, Secrets: secrets}
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
	return s, s.seal()
}

// seal encodes a snapshot. Equal snapshots result in equal bytes.
func (s *snapshot) seal() error {
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
	if s.data, err = compress.Gzip(b, gzip.DefaultCompression); err != nil {
		return errors.Wrap(err, "cannot compress the snapshot")
	}
	sum := sha256.Sum256(b)
	s.digest = hex.EncodeToString(sum[:8])
	return nil
}

// readSnapshot reads a stored snapshot. It returns nil if the snapshot cannot be used. Do not trust the content: everyone who
// can write Secrets in the target cluster may have changed it.
func readSnapshot(data []byte) *snapshot {
	if len(data) == 0 {
		return nil
	}
	b, err := compress.Gunzip(data, snapshotLimit)
	if err != nil {
		return nil
	}
	s := &snapshot{}
	if err := json.Unmarshal(b, s); err != nil || s.Format != snapshotFormat {
		return nil
	}
	sum := sha256.Sum256(b)
	s.digest, s.data = hex.EncodeToString(sum[:8]), data
	return s
}

// restored returns a Manifest that installs the content of the snapshot, in the way that the current Manifest specifies.
func (s *snapshot) restored(mr *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := mr.DeepCopy()
	live := mr.Spec.ForProvider
	s.Parameters.DeepCopyInto(&out.Spec.ForProvider)
	p := &out.Spec.ForProvider
	p.Drift, p.Mode, p.ImmutableFields = live.Drift, live.Mode, live.ImmutableFields
	p.Rollback, p.Adoption, p.Allowed, p.Impersonate = live.Rollback, live.Adoption, live.Allowed, live.Impersonate
	return out
}

// version returns the version that the parameters of a snapshot name, or an empty string.
func (s *snapshot) version() string {
	return versionOf(&s.Parameters)
}

func versionOf(p *v1alpha1.ManifestParameters) string {
	if p.Version == "" && len(p.Installs) > 0 {
		return p.Installs[0].Source.Version
	}
	return p.Version
}
