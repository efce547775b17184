// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

func signOptions() SignOptions {
	return SignOptions{Name: signatureName, Signer: keyPair(), Cosign: true}
}

func remoteOf(t *testing.T, p controlplane.PushedComponent) store.Store {
	t.Helper()
	s, err := remote.New(p.Repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// layersOf returns the layers of a manifest except for the descriptor.
func layersOf(t *testing.T, s store.Store, reference string) []any {
	t.Helper()
	data, _, err := s.Manifest(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Layers []any `json:"layers"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.Layers[1:]
}

// TestSign checks that signing changes nothing else in a module, in a layout and in a registry.
func TestSign(t *testing.T) {
	r := startRegistry(t)
	c := moduleOf("1.0.0+b1")
	ocmTypes := moduleOf("2.0.0")
	ocmTypes.OCM = true
	dir, err := layout.Create(t.Context(), layoutOf(t, "dir", push(t, r, c)))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	archive, err := layout.Create(t.Context(), layoutOf(t, "m.tar", push(t, r, c)))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Discard()
	cases := map[string]struct {
		store store.Store
		tag   string
	}{
		"Dir":      {dir, "1.0.0.build-b1"},
		"Tar":      {archive, "1.0.0.build-b1"},
		"Registry": {remoteOf(t, push(t, r, c)), "1.0.0.build-b1"},
		"OCM":      {remoteOf(t, push(t, r, ocmTypes)), "2.0.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := layersOf(t, tc.store, tc.tag)
			signed, err := Sign(t.Context(), tc.store, tc.tag, signOptions())
			if err != nil || !signed.Changed {
				t.Fatalf("Sign(...): %+v, %v", signed, err)
			}
			if diff := cmp.Diff(before, layersOf(t, tc.store, tc.tag)); diff != "" {
				t.Errorf("Sign(...): layers: -want, +got:\n%s", diff)
			}
			if _, digest, err := tc.store.Manifest(t.Context(), tc.tag); digest != signed.Digest || err != nil {
				t.Errorf("Sign(...): the tag is %s, %v, want %s", digest, err, signed.Digest)
			}
			if err := cosign.Verify(t.Context(), tc.store, signed.Digest, keyPair().Public()); err != nil {
				t.Errorf("Sign(...): %v", err)
			}
			again, err := Sign(t.Context(), tc.store, tc.tag, signOptions())
			if diff := cmp.Diff(Signed{Digest: signed.Digest}, again); diff != "" || err != nil {
				t.Errorf("Sign(...), again: %v, -want, +got:\n%s", err, diff)
			}
		})
	}
	b := open(t, cases["Registry"].store.String()+":1.0.0.build-b1")
	if err := Verify(t.Context(), b, []ocm.Key{publicKey(t, keyPair(), signatureName)}); err != nil {
		t.Errorf("Verify(...): %v", err)
	}
}

// TestSignDigest checks how a module without a tag is signed.
func TestSignDigest(t *testing.T) {
	r := startRegistry(t)
	p := push(t, r, moduleOf("1.0.0"))
	s := remoteOf(t, p)
	signed, err := Sign(t.Context(), s, p.Digest, signOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, digest, err := s.Manifest(t.Context(), "1.0.0"); digest != p.Digest || err != nil {
		t.Errorf("Sign(...): the tag has moved to %s, %v", digest, err)
	}
	if _, _, err := s.Manifest(t.Context(), signed.Digest); err != nil || signed.Digest == p.Digest {
		t.Errorf("Sign(...): got %s, %v", signed.Digest, err)
	}
	l, err := layout.Create(t.Context(), t.TempDir()+"/layout")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := store.Copy(t.Context(), s, p.Digest, l, store.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := Sign(t.Context(), l, p.Digest, signOptions())
	if err != nil || again.Digest != signed.Digest {
		t.Fatalf("Sign(...) in a layout: %+v, %v", again, err)
	}
	if tag, root, err := l.Root(t.Context()); tag != "1.0.0" || root != signed.Digest || err != nil {
		t.Errorf("Root(): %q, %q, %v", tag, root, err)
	}
}

func TestSignRefuses(t *testing.T) {
	r := startRegistry(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	theirs := moduleOf("1.0.0")
	theirs.Sign = &controlplane.Signing{Name: signatureName, Key: other}
	open := moduleOf("1.1.0")
	open.Resources = append(open.Resources, controlplane.ComponentResource{
		Name: "image", Type: "ociImage", Access: map[string]any{"type": "ociRegistry", "imageReference": "x.org/y:1"},
	})
	reference := moduleOf("1.2.0")
	reference.References = []controlplane.ComponentReference{{Name: "child", Component: "example.org/module/child", Version: "1.0.0"}}
	cases := map[string]struct {
		reason string
		c      controlplane.Component
		change func(o *SignOptions)
		want   string
	}{
		"OtherKey":  {"Signatures of others are not replaced.", theirs, func(*SignOptions) {}, "use another --signature-name"},
		"NoDigest":  {"What has no digest is not signed.", open, func(*SignOptions) {}, `resource "image" of component ` + greeter + ":1.1.0 has no digest"},
		"Reference": {"What is referenced is signed with it.", reference, func(*SignOptions) {}, `reference "child" has no digest`},
		"Digest":    {"The module must have the digest that the caller has seen.", moduleOf("1.3.0"), func(o *SignOptions) { o.Digest = "sha256:" + strings.Repeat("0", 64) }, "the manifest has digest"},
		"NoName":    {"Signatures have names.", moduleOf("1.4.0"), func(o *SignOptions) { o.Name = "" }, "signature name is empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := push(t, r, tc.c)
			o := signOptions()
			tc.change(&o)
			r.Reset()
			_, err := Sign(t.Context(), remoteOf(t, p), tc.c.Version, o)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nSign(...): want %q, got %v", tc.reason, tc.want, err)
			}
			for _, q := range r.Requests() {
				if q.Method != http.MethodGet && q.Method != http.MethodHead {
					t.Errorf("\n%s\nSign(...): it writes: %s %s", tc.reason, q.Method, q.Path)
				}
			}
		})
	}
	s := remoteOf(t, push(t, r, theirs))
	var missing *store.NotFoundError
	if _, err := Sign(t.Context(), s, "9.9.9", signOptions()); !errors.As(err, &missing) {
		t.Errorf("Sign(...) of what is not there: %v", err)
	}
}

// A movingStore is a store in which another client moves the tag after it was read.
type movingStore struct {
	store.Store

	once sync.Once
	move func()
}

func (m *movingStore) Manifest(ctx context.Context, reference string) (data []byte, digest string, err error) {
	data, digest, err = m.Store.Manifest(ctx, reference)
	m.once.Do(m.move)
	return data, digest, err
}

// TestSignMoved checks that a tag that another client has moved is not moved back.
func TestSignMoved(t *testing.T) {
	r := startRegistry(t)
	s := remoteOf(t, push(t, r, moduleOf("1.0.0")))
	changed := moduleOf("1.0.0")
	changed.Resources = changed.Resources[:1]
	var moved string
	m := &movingStore{Store: s, move: func() { moved = push(t, r, changed).Digest }}
	_, err := Sign(t.Context(), m, "1.0.0", signOptions())
	var exists *store.ExistsError
	if !errors.As(err, &exists) {
		t.Errorf("Sign(...): want an ExistsError, got %v", err)
	}
	if _, digest, err := s.Manifest(t.Context(), "1.0.0"); digest != moved || err != nil {
		t.Errorf("Sign(...): the tag is %s, %v, want %s", digest, err, moved)
	}
}

// TestSignTogether checks that if two clients sign at the same time with different names, no signature is lost without an
// error.
func TestSignTogether(t *testing.T) {
	r := startRegistry(t)
	p := push(t, r, moduleOf("1.0.0"))
	names := []string{"first", "second", "third"}
	failed := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			_, failed[i] = Sign(t.Context(), remoteOf(t, p), "1.0.0", SignOptions{Name: name, Signer: keyPair()})
		})
	}
	wg.Wait()
	b := open(t, p.Repository+":1.0.0")
	for i, name := range names {
		found, err := ocm.SignedBy(b.Descriptor(), name, keyPair().Public())
		// A client whose signed module was signed again gets a message that the tag has moved, and its signature still exists.
		if err != nil || !found && failed[i] == nil {
			t.Errorf("signature %s: found %t, %v, and Sign(...) said %v", name, found, err, failed[i])
		}
	}
}
