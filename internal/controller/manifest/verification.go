// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Verifier verifies that what a Manifest installs is signed.
type Verifier interface {
	// Verify returns the component whose signature covers each source. The error is an *ocm.VerificationError, or Verify cannot decide.
	Verify(ctx context.Context, regs oci.Registries, p *v1alpha1.ManifestParameters, keys []ocm.Key) (module.Root, error)
}

// reasonCannotVerify is the reason of a condition Verified that is Unknown, because a key or a descriptor cannot be read.
const reasonCannotVerify xpv2.ConditionReason = "CannotVerify"

// A verification is the result of verifying that the sources of a Manifest are signed as its config requires.
type verification struct {
	// title is the config and its mode, for messages.
	title string
	mode  v1alpha1.VerificationMode
	keys  []ocm.Key
	// err is the reason why the sources are not signed, or why this is unknown.
	err error
}

// off reports whether the config requires no signatures.
func (v *verification) off() bool { return v.mode == v1alpha1.VerificationOff }

// refusal returns why nothing may be applied. In mode Warn it returns nil, because the Manifest is applied in any case.
func (v *verification) refusal() error {
	if v.mode == v1alpha1.VerificationWarn {
		return nil
	}
	return errors.Wrapf(v.err, "a valid signature is required (%s, spec.verification.mode %s)", v.title, v.mode)
}

// verify verifies the sources of a Manifest as its config requires.
func (c *connector) verify(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) *verification {
	out := &verification{title: cfg.Kind + " " + cfg.Name, mode: v1alpha1.VerificationOff}
	if v := cfg.Spec.Verification; v != nil && v.Mode != "" {
		out.mode = v.Mode
	}
	if !out.off() {
		out.keys, out.err = c.signed(ctx, cfg, mr)
	}
	return out
}

// enforce verifies the content that a rollback brings back, including the component that it came from. In mode Warn it
// verifies nothing, because the result would have no effect.
func (c *connector) enforce(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) error {
	if v := cfg.Spec.Verification; v != nil && v.Mode == v1alpha1.VerificationWarn {
		return nil
	}
	return c.verify(ctx, cfg, mr).refusal()
}

// signed returns the keys of the config. The error is nil if a signature with one of them covers all sources.
func (c *connector) signed(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) ([]ocm.Key, error) {
	keys, err := cfg.Keys(ctx, c.secrets)
	if err != nil {
		return nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	regs, err := cfg.Registries(ctx, c.secrets, c.clouds)
	if err != nil {
		return nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	root, err := c.verifier.Verify(ctx, regs, &mr.Spec.ForProvider, keys)
	if err != nil {
		return keys, err
	}
	return keys, module.CheckLimits(cfg.Spec.Verification, root, &mr.Spec.ForProvider)
}

// condition returns the condition Verified. Equal results lead to equal conditions.
func (v *verification) condition() xpv2.Condition {
	out := xpv2.Condition{Type: v1alpha1.TypeVerified, LastTransitionTime: metav1.Now()}
	invalid := (*ocm.VerificationError)(nil)
	switch {
	case v.err == nil:
		out.Status, out.Reason = corev1.ConditionTrue, v1alpha1.ReasonVerified
		out.Message = "All sources are covered by signature " + namesOf(v.keys)
	case errors.As(v.err, &invalid):
		out.Status, out.Reason, out.Message = corev1.ConditionFalse, v1alpha1.ReasonNotVerified, invalid.Reason
	default:
		out.Status, out.Reason, out.Message = corev1.ConditionUnknown, reasonCannotVerify, v.err.Error()
	}
	return out
}

func namesOf(keys []ocm.Key) string {
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}
