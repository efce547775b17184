// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// keys verifies signatures with a list of keys.
type keys struct {
	all []ocm.Key
	// suffix is appended to messages. It identifies the keys, so that other keys cause another message.
	suffix string
}

func newKeys(all []ocm.Key) keys {
	if len(all) == 0 {
		return keys{}
	}
	prints := module.Fingerprints(all)
	slices.Sort(prints)
	sum := sha256.Sum256([]byte(strings.Join(prints, "\n")))
	return keys{all: all, suffix: " (keys " + hex.EncodeToString(sum[:4]) + ")"}
}

// isReported reports whether the status has the result of these keys.
func (k keys) isReported(t *v1alpha1.ModuleTemplate) bool {
	if len(k.all) == 0 {
		return !hasCondition(t, v1alpha1.TypeVerified)
	}
	return strings.HasSuffix(t.Status.GetCondition(v1alpha1.TypeVerified).Message, k.suffix)
}

// report sets in the status whether components are signed. Components without a signature are resolved too: each
// ProviderConfig decides whether they may be installed.
func (k keys) report(t *v1alpha1.ModuleTemplate, components []*ocm.Descriptor) {
	if len(k.all) == 0 {
		t.Status.Conditions = slices.DeleteFunc(t.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == v1alpha1.TypeVerified })
		return
	}
	verified, err := ocm.Verify(components, k.all)
	if err != nil {
		k.refuse(t, err)
		return
	}
	k.set(t, corev1.ConditionTrue, v1alpha1.ReasonVerified, fmt.Sprintf("signature %q is valid", verified.Signature()))
}

// refuse sets the condition Verified to False, with an error as the message.
func (k keys) refuse(t *v1alpha1.ModuleTemplate, err error) {
	message := err.Error()
	var v *ocm.VerificationError
	if errors.As(err, &v) {
		message = v.Reason
	}
	k.set(t, corev1.ConditionFalse, v1alpha1.ReasonNotVerified, message)
}

func (k keys) set(t *v1alpha1.ModuleTemplate, s corev1.ConditionStatus, why xpv2.ConditionReason, message string) {
	conditions.Mark(&t.Status.ConditionedStatus, t.Generation, xpv2.Condition{
		Type: v1alpha1.TypeVerified, Status: s, Reason: why, Message: conditions.Truncate(message, conditions.MaxMessage-len(k.suffix)) + k.suffix,
		LastTransitionTime: metav1.Now(),
	})
}
