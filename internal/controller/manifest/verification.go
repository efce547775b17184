// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Verifier says whether what a Manifest installs is signed.
type Verifier interface {
	// Verify that a signature by one of the keys covers each source. An *ocm.VerificationError says that it does not, any
	// other error that it cannot be told. What was verified once costs no request to a registry.
	Verify(ctx context.Context, regs oci.Registries, p *v1alpha1.ManifestParameters, keys []ocm.Key) error
}

// reasonCannotVerify is that of a condition Verified which is Unknown: a key or a descriptor cannot be read.
const reasonCannotVerify xpv2.ConditionReason = "CannotVerify"

// verify the sources of a Manifest as its config demands. The error is why nothing may be applied. The condition is set in
// each pass, because the reconciler drops it in those that create.
func (c *connector) verify(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) error {
	mode := v1alpha1.VerificationOff
	if v := cfg.Spec.Verification; v != nil && v.Mode != "" {
		mode = v.Mode
	}
	if mode == v1alpha1.VerificationOff {
		mr.Status.Conditions = slices.DeleteFunc(mr.Status.Conditions, func(c xpv2.Condition) bool {
			return c.Type == v1alpha1.TypeVerified
		})
		return nil
	}
	keys, err := c.signed(ctx, cfg, mr)
	before, now := mr.GetCondition(v1alpha1.TypeVerified), verified(keys, err)
	mark(mr, now)
	if err == nil {
		return nil
	}
	if mode != v1alpha1.VerificationWarn {
		return errors.Wrapf(err, "nothing is applied without a valid signature (%s %s, spec.verification.mode %s)", cfg.Kind, cfg.Name, mode)
	}
	// The first pass, that which creates, is not told of, as the next one cannot know.
	if meta.GetExternalName(mr) != "" && (before.Status != now.Status || before.Message != now.Message) {
		c.record.Event(mr, event.Warning(reasonNotVerified, errors.New("applied without a valid signature: "+now.Message)))
	}
	return nil
}

// enforce is verify for what is brought back instead of what a Manifest says. It holds the component that it came from, too.
func (c *connector) enforce(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) error {
	switch v := cfg.Spec.Verification; {
	case v == nil, v.Mode == "", v.Mode == v1alpha1.VerificationOff, v.Mode == v1alpha1.VerificationWarn:
		return nil
	}
	_, err := c.signed(ctx, cfg, mr)
	return errors.Wrapf(err, "nothing is applied without a valid signature (%s %s, spec.verification.mode %s)",
		cfg.Kind, cfg.Name, cfg.Spec.Verification.Mode)
}

// signed returns nil if a signature by one of the keys covers all sources.
func (c *connector) signed(ctx context.Context, cfg *config.Config, mr *v1alpha1.Manifest) ([]ocm.Key, error) {
	keys, err := cfg.Keys(ctx, c.secrets)
	if err != nil {
		return nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	regs, err := cfg.Registries(ctx, c.secrets)
	if err != nil {
		return nil, errors.Wrapf(err, "%s %s", cfg.Kind, cfg.Name)
	}
	return keys, c.verifier.Verify(ctx, regs, &mr.Spec.ForProvider, keys)
}

// verified is the condition that says how a verification ended. Equal ends make equal conditions.
func verified(keys []ocm.Key, err error) xpv2.Condition {
	out := xpv2.Condition{Type: v1alpha1.TypeVerified, LastTransitionTime: metav1.Now()}
	invalid := (*ocm.VerificationError)(nil)
	switch {
	case err == nil:
		out.Status, out.Reason = corev1.ConditionTrue, v1alpha1.ReasonVerified
		out.Message = "All sources are covered by a signature of " + namesOf(keys)
	case errors.As(err, &invalid):
		out.Status, out.Reason, out.Message = corev1.ConditionFalse, v1alpha1.ReasonNotVerified, cut(invalid.Reason)
	default:
		out.Status, out.Reason, out.Message = corev1.ConditionUnknown, reasonCannotVerify, cut(err.Error())
	}
	return out
}

func namesOf(keys []ocm.Key) string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}
