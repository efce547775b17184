// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"io"
	"strings"
	"testing"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	"github.com/gardener/component-spec/bindings-go/apis/v2/signatures"
	"github.com/gardener/component-spec/bindings-go/codec"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A badSigner signs with a key or an algorithm that differs from what it claims.
type badSigner struct {
	public crypto.PublicKey
	sign   func(digest []byte) ([]byte, error)
}

func (b badSigner) Public() crypto.PublicKey { return b.public }

func (b badSigner) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	return b.sign(digest)
}

func TestSign(t *testing.T) {
	d := component(t, rootName, []any{resource("root", []byte("root"))}, nil)
	change := func(f func(tree)) *Descriptor { return edited(t, d, f) }
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pss := badSigner{public: ours().Public(), sign: func(digest []byte) ([]byte, error) {
		return rsa.SignPSS(rand.Reader, ours(), crypto.SHA256, digest, nil)
	}}
	failing := badSigner{public: ours().Public(), sign: func([]byte) ([]byte, error) { return nil, errors.New("no") }}

	cases := map[string]struct {
		reason string
		d      *Descriptor
		name   string
		signer crypto.Signer
		err    string
	}{
		"Good":      {reason: "All has a digest.", d: d, name: "a", signer: ours()},
		"Excluded":  {reason: "An excluded resource does not need a digest.", d: change(func(t tree) { res(t, 0)["digest"] = excluded() }), name: "a", signer: ours()},
		"None":      {reason: "A resource without content does not need a digest.", d: change(func(t tree) { res(t, 0)["access"] = tree{"type": "None"}; delete(res(t, 0), "digest") }), name: "a", signer: ours()},
		"Unknown":   {reason: "Other fields are kept.", d: change(func(t tree) { t["x-unknown"] = tree{"a": "<b>"} }), name: "a", signer: ours()},
		"Second":    {reason: "A component can have several signatures.", d: signed(t, d, "b", theirs()), name: "a", signer: ours()},
		"Again":     {reason: "Readers refuse two signatures of a name.", d: signed(t, d, "a", theirs()), name: "a", signer: ours(), err: `the component already has a signature named "a"`},
		"NoName":    {reason: "A signature has a name.", d: d, signer: ours(), err: "the signature name is empty"},
		"NoDigest":  {reason: "All must be signed.", d: change(func(t tree) { delete(res(t, 0), "digest") }), name: "a", signer: ours(), err: `cannot sign component kyma-project.io/module/root:1.0.0: resource "root": digest is missing`},
		"Reference": {reason: "References must have digests, too.", d: component(t, rootName, nil, []any{reference("child", childName, "")}), name: "a", signer: ours(), err: `reference "child" has no digest`},
		"BadDigest": {reason: "Nothing is signed that Verify refuses.", d: change(func(t tree) { digestIn(res(t, 0))["value"] = "x" }), name: "a", signer: ours(), err: "must be a SHA-256 in lowercase hexadecimal digits"},
		"OtherBlob": {reason: "The signed digest must be the blob's.", d: change(func(t tree) { accessIn(res(t, 0))["digest"] = digestOfBlob(nil) }), name: "a", signer: ours(), err: "access refers to blob"},
		"Short":     {reason: "Short keys are weak.", d: d, name: "a", signer: newKey(1024), err: "the RSA key has 1024 bits"},
		"Curve":     {reason: "Only RSA is known.", d: d, name: "a", signer: curve, err: "unsupported public key type *ecdsa.PublicKey: must be RSA"},
		"PSS":       {reason: "A signer must do what is asked.", d: d, name: "a", signer: pss, err: "it must match its public key and use RSASSA-PKCS1-V1_5"},
		"Fails":     {reason: "A signer may be elsewhere.", d: d, name: "a", signer: failing, err: "the signer failed: no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := string(tc.d.JSON())
			got, err := Sign(tc.d, tc.name, tc.signer)
			if diff := cmp.Diff(before, string(tc.d.JSON())); diff != "" {
				t.Errorf("\n%s\nSign(...): changed its argument: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.err != "" {
				if !strings.Contains(text(err), tc.err) || got != nil {
					t.Errorf("\n%s\nSign(...): error %q does not contain %q", tc.reason, text(err), tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nSign(...): %v", tc.reason, err)
			}
			if v, err := Verify([]*Descriptor{got}, []Key{keyOf(t, "a", ours())}); err != nil || v.Signature() != "a" {
				t.Errorf("\n%s\nVerify(Sign(...)): got %v, error %v", tc.reason, v, err)
			}
			without := edited(t, got, func(t tree) {
				list := t["signatures"].([]any)
				if t["signatures"] = list[:len(list)-1]; len(list) == 1 {
					delete(t, "signatures")
				}
			})
			if diff := cmp.Diff(before, string(without.JSON())); diff != "" {
				t.Errorf("\n%s\nSign(...): besides the signature: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSignLibrary checks that component-spec, with all its checks, can read and verify our signatures.
func TestSignLibrary(t *testing.T) {
	d := signed(t, decoded(t, read(t, "trial.json")), signedBy, ours())
	var spec v2.ComponentDescriptor
	if err := codec.Decode(d.JSON(), &spec); err != nil {
		t.Fatalf("codec.Decode(...): %v", err)
	}
	verifier, err := signatures.CreateRSAVerifier(&ours().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := signatures.VerifySignedComponentDescriptor(&spec, verifier, signedBy); err != nil {
		t.Errorf("VerifySignedComponentDescriptor(...): %v", err)
	}
	if again := signed(t, decoded(t, read(t, "trial.json")), signedBy, ours()); !cmp.Equal(d.JSON(), again.JSON()) {
		t.Error("Sign(...): differs from one time to the next")
	}
}
