// SPDX-License-Identifier: Apache-2.0

package config

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestKeys(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	const hidden = "hunter2-is-a-secret"
	secrets := secretMap{"n/keys": corev1.Secret{Data: map[string][]byte{
		"good": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "bad": []byte(hidden),
	}}}
	key := func(name, namespace, secret, key string) v1alpha1.VerificationKey {
		return v1alpha1.VerificationKey{
			SignatureName: name, PublicKeySecretRef: v1alpha1.SecretKeySelector{Namespace: namespace, Name: secret, Key: key},
		}
	}
	type want struct {
		names []string
		err   string
	}
	cases := map[string]struct {
		reason       string
		verification *v1alpha1.Verification
		want         want
	}{
		"None": {reason: "Without verification there are no keys."},
		"Two": {
			reason:       "A key has the name of its signature.",
			verification: &v1alpha1.Verification{Keys: []v1alpha1.VerificationKey{key("b", "", "keys", "good"), key("a", "n", "keys", "good")}},
			want:         want{names: []string{"b", "a"}},
		},
		"MissingSecret": {
			reason:       "The error names the Secret that does not exist, and the entry.",
			verification: &v1alpha1.Verification{Keys: []v1alpha1.VerificationKey{key("a", "", "none", "good")}},
			want:         want{err: `spec.verification.keys["a"].publicKeySecretRef: Secret n/none does not exist`},
		},
		"MissingKey": {
			reason:       "The error names the key that does not exist.",
			verification: &v1alpha1.Verification{Keys: []v1alpha1.VerificationKey{key("a", "", "keys", "none")}},
			want:         want{err: `spec.verification.keys["a"].publicKeySecretRef: Secret n/keys has no key "none"`},
		},
		"OtherNamespace": {
			reason:       "A tenant must not use the Secrets of another.",
			verification: &v1alpha1.Verification{Keys: []v1alpha1.VerificationKey{key("a", "m", "keys", "good")}},
			want:         want{err: `spec.verification.keys["a"].publicKeySecretRef: namespace: invalid value "m": a ProviderConfig can only refer`},
		},
		"NoKey": {
			reason:       "The error does not contain the value of an invalid key.",
			verification: &v1alpha1.Verification{Keys: []v1alpha1.VerificationKey{key("a", "", "keys", "bad")}},
			want:         want{err: `spec.verification.keys["a"].publicKeySecretRef: key "bad" of Secret "keys"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Config{Kind: "ProviderConfig", Name: "c", Namespace: "n", Spec: v1alpha1.ProviderConfigSpec{Verification: tc.verification}}
			got := want{}
			keys, err := c.Keys(t.Context(), secrets)
			for _, k := range keys {
				got.names = append(got.names, k.Name)
			}
			if err != nil {
				got.err = err.Error()
			}
			if strings.Contains(got.err, hidden) {
				t.Errorf("\n%s\nKeys(...): the error shows a secret: %v", tc.reason, err)
			}
			if tc.want.err != "" && strings.Contains(got.err, tc.want.err) {
				got.err = tc.want.err
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nKeys(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
