// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// snapshotFormat is raised when a snapshot of before cannot be understood any more, snapshotLimit is what one may have
// unpacked.
const (
	snapshotFormat = 1
	snapshotLimit  = 8 << 20
)

// A snapshot is all that makes the set of a Manifest: its parameters, with values in the place of references to values.
// It holds values of Secrets, and is kept in the target cluster only.
type snapshot struct {
	Format     int                         `json:"format"`
	Parameters v1alpha1.ManifestParameters `json:"parameters"`
	// Hidden are those of the values that come from Secrets, so that no message shows them later.
	Hidden []any `json:"hidden,omitempty"`

	// digest identifies the content, data is its stored form.
	digest string
	data   []byte
}

// snapshotOf a Manifest, and the set that was made of it. What says how to work, and not what to install, is left out:
// that is as the Manifest says now.
func snapshotOf(mr *v1alpha1.Manifest, set *engine.Set, hidden []any) (*snapshot, error) {
	s := &snapshot{Format: snapshotFormat, Hidden: hidden}
	mr.Spec.ForProvider.DeepCopyInto(&s.Parameters)
	p := &s.Parameters
	p.Drift, p.Rollback, p.Adopt = "", nil, false
	for i := range p.Installs {
		in := &p.Installs[i]
		in.ValuesFrom, in.Values = nil, nil
		if len(set.Installs[i].Values) == 0 {
			continue
		}
		b, err := json.Marshal(set.Installs[i].Values)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.installs[%q]: cannot encode values", in.Name)
		}
		in.Values = &runtime.RawExtension{Raw: b}
	}
	return s, s.seal()
}

// seal a snapshot: equal ones get equal bytes.
func (s *snapshot) seal() error {
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	// Embedded objects may be written in any order.
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &v); err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	if b, err = json.Marshal(v); err != nil {
		return errors.Wrap(err, "cannot encode the snapshot")
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		return errors.Wrap(err, "cannot compress the snapshot")
	}
	if err := z.Close(); err != nil {
		return errors.Wrap(err, "cannot compress the snapshot")
	}
	sum := sha256.Sum256(b)
	s.digest, s.data = hex.EncodeToString(sum[:8]), out.Bytes()
	return nil
}

// readSnapshot that was kept; nil where there is none that can be used. The content is foreign: whoever may write Secrets
// in the target cluster may have changed it.
func readSnapshot(data []byte) *snapshot {
	if len(data) == 0 {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(z, snapshotLimit+1))
	if err != nil || len(b) > snapshotLimit {
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

// restored is a Manifest that wants what a snapshot says, and works as it says itself.
func (s *snapshot) restored(mr *v1alpha1.Manifest) *v1alpha1.Manifest {
	out := mr.DeepCopy()
	live := mr.Spec.ForProvider
	s.Parameters.DeepCopyInto(&out.Spec.ForProvider)
	p := &out.Spec.ForProvider
	p.Drift, p.Rollback, p.Adopt = live.Drift, live.Rollback, live.Adopt
	return out
}

// version of a snapshot as far as it is known without its content; it may be empty.
func (s *snapshot) version() string {
	return versionOf(&s.Parameters)
}

func versionOf(p *v1alpha1.ManifestParameters) string {
	if p.Version == "" && len(p.Installs) > 0 {
		return p.Installs[0].Source.Version
	}
	return p.Version
}
