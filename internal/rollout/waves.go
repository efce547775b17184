// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// All is the threshold that all Kymas are below.
const All = int64(1) << 32

// rest is the name of the wave of the Kymas that no wave of a policy selects.
const rest = "rest"

// A Position is the place of a Kyma in the rollout of a version: the index of its wave, and the hash that orders the Kymas of a wave.
type Position struct {
	Wave int
	Hash uint32
}

// IsReached reports whether a rollout has reached a Kyma at a position: it is in an earlier wave than the current one, or its hash is below the
// threshold of the current wave.
func (p Position) IsReached(r *v1alpha1.ChannelRollout) bool {
	return p.Wave < int(r.Wave) || p.Wave == int(r.Wave) && int64(p.Hash) < r.Threshold
}

// Waves divides Kymas into the waves of a policy. Its selectors are parsed once, for many Kymas.
type Waves struct {
	// selectors has one selector for each wave of the policy. A nil selector selects everything.
	selectors []labels.Selector
}

// WavesOf returns the waves of a policy, which can be nil. A selector that is not valid selects nothing: see Validate.
func WavesOf(p *v1alpha1.RolloutPolicySpec) Waves {
	if p == nil || len(p.Waves) == 0 {
		return Waves{}
	}
	out := Waves{make([]labels.Selector, len(p.Waves))}
	for i := range p.Waves {
		if p.Waves[i].Selector == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(p.Waves[i].Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		out.selectors[i] = selector
	}
	return out
}

// Of returns the index of the first wave that selects labels. Without such a wave, it returns the number of waves.
func (w Waves) Of(set map[string]string) int {
	for i, s := range w.selectors {
		if s == nil || s.Matches(labels.Set(set)) {
			return i
		}
	}
	return len(w.selectors)
}

// Position returns the position of a Kyma in the rollout of a version of a module.
func (w Waves) Position(module, version string, k Kyma) Position {
	return Position{Wave: w.Of(k.Labels), Hash: hash(k.UID, module, version)}
}

// hashed is the size in bytes up to which a hash costs no allocation.
const hashed = 256

// hash returns the hash of a Kyma in the rollout of a version. It differs for each module and version, so that not always the same Kymas are the
// first.
func hash(uid types.UID, module, version string) uint32 {
	b := make([]byte, 0, hashed)
	b = append(append(append(b, uid...), '/'), module...)
	sum := sha256.Sum256(append(append(b, '/'), version...))
	return binary.BigEndian.Uint32(sum[:])
}

const (
	// noWaves is the digest of a release without a RolloutPolicy.
	noWaves = "none"
	// digestBytes is the number of bytes of any other digest.
	digestBytes = 16
)

// DigestOf identifies the waves of a policy, by their names and selectors.
func DigestOf(p *v1alpha1.RolloutPolicySpec) string {
	if p == nil {
		return noWaves
	}
	var all []byte
	for i := range p.Waves {
		w := &p.Waves[i]
		all = fmt.Appendf(all, "%q %t %q\n", w.Name, w.Selector == nil, metav1.FormatLabelSelector(w.Selector))
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:digestBytes])
}

// Fits reports whether the wave and the threshold in a state belong to the waves of a policy. After a change of the waves, they would
// expose other Kymas, or all of them, until the state is updated.
func Fits(r *v1alpha1.ChannelRollout, p *v1alpha1.RolloutPolicySpec) bool {
	return r.WavesDigest == "" || r.WavesDigest == DigestOf(p)
}

// NameOf returns the name of a wave. It is empty if there is only one.
func NameOf(p *v1alpha1.RolloutPolicySpec, wave int) string {
	switch {
	case p == nil || len(p.Waves) == 0:
		return ""
	case wave < len(p.Waves):
		return p.Waves[wave].Name
	}
	return rest
}

// Validate returns an error that names the first selector of a policy that is not valid.
func Validate(p *v1alpha1.RolloutPolicySpec) error {
	for i := range p.Waves {
		if _, err := metav1.LabelSelectorAsSelector(p.Waves[i].Selector); err != nil {
			return errors.Wrapf(err, "spec.waves[%d].selector, of wave %s, is not valid", i, p.Waves[i].Name)
		}
	}
	return nil
}

// waveSpec returns the specification of a wave. The wave of the Kymas that no wave selects has the batch and soak of the last one.
func waveSpec(p *v1alpha1.RolloutPolicySpec, wave int) v1alpha1.RolloutWave {
	if len(p.Waves) == 0 {
		return v1alpha1.RolloutWave{}
	}
	return p.Waves[min(wave, len(p.Waves)-1)]
}

// share returns a number, or a percentage of n, rounded up, but at least 1. Without a value, it returns the percentage of the default.
func share(v *intstr.IntOrString, percent, n int) int {
	of := intstr.FromInt32(0)
	if v != nil {
		of = *v
	}
	if of.Type == intstr.Int && of.IntValue() > 0 {
		return of.IntValue()
	}
	if scaled, err := intstr.GetScaledValueFromIntOrPercent(&of, n, true); v != nil && err == nil {
		return max(scaled, 1)
	}
	const all = 100
	return max((n*percent+all-1)/all, 1)
}
