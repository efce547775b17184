// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Signer is the name of the signature that is verified, and of the Secret with its public key.
const Signer = "acme"

// Publish creates the Secret with the public key of the signer.
func Publish(ctx context.Context, s *Space, key *rsa.PrivateKey) {
	GinkgoHelper()
	der := Must(x509.MarshalPKIXPublicKey(&key.PublicKey))
	s.Secret(ctx, Signer, corev1.SecretTypeOpaque, map[string][]byte{"key": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})})
}

// Verification returns an edit that sets the mode of the verification, with the key of the signer.
func Verification(mode v1alpha1.VerificationMode) func(spec *v1alpha1.ProviderConfigSpec) {
	return func(spec *v1alpha1.ProviderConfigSpec) {
		spec.Verification = &v1alpha1.Verification{Mode: mode, Keys: []v1alpha1.VerificationKey{{
			SignatureName: Signer, PublicKeySecretRef: v1alpha1.SecretKeySelector{Name: Signer, Key: "key"},
		}}}
	}
}

// BeVerified matches a Manifest by its condition Verified, with a message that contains all parts.
func BeVerified(status corev1.ConditionStatus, message ...string) types.GomegaMatcher {
	return HaveCondition(v1alpha1.TypeVerified, status, ContainAll(message))
}
