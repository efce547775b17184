// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	signedDigest = "sha256:2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375"
	otherDigest  = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	repository   = "registry.example.org/x"
)

var key = sync.OnceValue(func() *rsa.PrivateKey { // Creating keys takes long.
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func curve(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// layers returns the layers of the signatures of signedDigest.
func (m *memory) layers(tb testing.TB) []layer {
	tb.Helper()
	l, err := readList(tb.Context(), m, signedDigest)
	if err != nil {
		tb.Fatal(err)
	}
	return l.layers
}

func sig(tb testing.TB, s store.Store, k crypto.Signer) bool {
	tb.Helper()
	added, err := Sign(tb.Context(), s, repository, signedDigest, k)
	if err != nil {
		tb.Fatalf("Sign(...): %v", err)
	}
	return added
}

// TestSignGolden checks that the written data is the same as with cosign.
func TestSignGolden(t *testing.T) {
	m := newMemory()
	sig(t, m, key())
	const payload = `{"critical":{"identity":{"docker-reference":"registry.example.org/x"},"image":{"docker-manifest-digest":"` + signedDigest +
		`"},"type":"cosign container image signature"},"optional":null}`
	config := `{"architecture":"","created":"0001-01-01T00:00:00Z","history":[{"created":"0001-01-01T00:00:00Z"}],"os":"",` +
		`"rootfs":{"type":"layers","diff_ids":["` + contentOf("", []byte(payload)).Digest + `"]},"config":{}}`
	tag := "sha256-2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375.sig"
	l := m.layers(t)[0]
	want := map[string]string{
		"payload":  payload,
		"config":   config,
		"manifest": `{"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":` + "233" + `,"digest":"` + contentOf("", []byte(config)).Digest + `"},"layers":[{"mediaType":"application/vnd.dev.cosign.simplesigning.v1+json","size":238,"digest":"` + contentOf("", []byte(payload)).Digest + `","annotations":{"dev.cosignproject.cosign/signature":"` + l.Annotations[annotation] + `"}}],"mediaType":"application/vnd.oci.image.manifest.v1+json","schemaVersion":2}`,
	}
	got := map[string]string{
		"payload":  string(m.blobs[l.Digest]),
		"config":   string(m.blobs[contentOf("", []byte(config)).Digest]),
		"manifest": string(m.manifests[tag]),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Sign(...): -want, +got:\n%s", diff)
	}
	again := newMemory()
	sig(t, again, key())
	if diff := cmp.Diff(m.manifests, again.manifests); diff != "" {
		t.Errorf("Sign(...) with RSA: two signatures differ: %s", diff)
	}
}

func TestSign(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	signers := []crypto.Signer{key(), curve(t), edwards}
	for _, k := range signers {
		if !sig(t, m, k) {
			t.Errorf("Sign(...) with a new %T: nothing was added", k)
		}
		if sig(t, m, k) {
			t.Errorf("Sign(...) with the same %T: it was added twice", k)
		}
	}
	if m.writes != len(signers) {
		t.Errorf("Sign(...): %d writes, want %d", m.writes, len(signers))
	}
	for _, k := range signers {
		if err := Verify(t.Context(), m, signedDigest, k.Public()); err != nil {
			t.Errorf("Verify(...) with a %T: %v", k, err)
		}
	}
}

// TestSignKeeps checks that existing signatures of other clients stay, including unknown ones.
func TestSignKeeps(t *testing.T) {
	m := newMemory()
	const foreign = `{"mediaType":"x/y","size":1,"digest":"` + otherDigest + `","annotations":{"a":"b"},"urls":["c"]}`
	m.manifests[Tag(signedDigest)] = []byte(`{"schemaVersion":2,"annotations":{"d":"e"},"config":{},"layers":[` + foreign + `],"subject":{"f":1}}`)
	sig(t, m, key())
	for _, want := range []string{foreign, `"annotations":{"d":"e"}`, `"subject":{"f":1}`} {
		if got := string(m.manifests[Tag(signedDigest)]); !strings.Contains(got, want) {
			t.Errorf("Sign(...): %s is lost from %s", want, got)
		}
	}
}

// TestMerge checks that no signature is lost or repeated.
func TestMerge(t *testing.T) {
	manifest := func(n int) string { return `{"layers":[` + strings.TrimPrefix(strings.Repeat(",{}", n), ",") + `]}` }
	signed := func(keys ...crypto.Signer) *memory {
		m := newMemory()
		for _, k := range keys {
			sig(t, m, k)
		}
		return m
	}
	a, b, c := key(), curve(t), curve(t)
	both := signed(a, b)
	first := both.manifests[Tag(signedDigest)]
	second := slices.Clone(first)
	sig(t, both, c)
	third := both.manifests[Tag(signedDigest)]
	cases := map[string]struct {
		reason        string
		first, second []byte
		layers        int
		want          string // Part of the error.
	}{
		"Same":  {reason: "The same signatures are not repeated.", first: first, second: second, layers: 2},
		"Other": {reason: "Signatures that only one has are kept.", first: signed(b).manifests[Tag(signedDigest)], second: signed(a, c).manifests[Tag(signedDigest)], layers: 3},
		"More":  {reason: "Common signatures are not repeated.", first: first, second: third, layers: 3},
		"Index": {reason: "An index contains no signatures.", first: first, second: []byte(`{"manifests":[]}`), want: "is an index"},
		"JSON":  {reason: "The first manifest must be valid.", first: []byte("x"), second: first, want: "not valid JSON"},
		"Many":  {reason: "Signatures are bounded.", first: []byte(manifest(1000)), second: first, want: "already has 1000 signatures"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifest, config, err := Merge(tc.first, tc.second)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("\n%s\nMerge(...): want %q, got %v", tc.reason, tc.want, err)
				}
				return
			}
			got := &list{}
			if err := errors.Join(err, got.decode(manifest)); err != nil || len(got.layers) != tc.layers {
				t.Fatalf("\n%s\nMerge(...): want %d layers, got %s, %v", tc.reason, tc.layers, manifest, err)
			}
			if !strings.Contains(string(manifest), contentOf(configType, config).Digest) || strings.Count(string(config), `"sha256:`) != tc.layers {
				t.Errorf("\n%s\nMerge(...): got config %s for %s", tc.reason, config, manifest)
			}
		})
	}
}

func TestSignRefuses(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		digest   string
		signer   crypto.Signer
		manifest string
		want     string
	}{
		"Digest": {reason: "A digest is one.", digest: "latest", signer: key(), want: "malformed digest"},
		"Short":  {reason: "Short keys are weak.", digest: signedDigest, signer: short, want: "1024 bits"},
		"Index":  {reason: "The tag is something else.", digest: signedDigest, signer: key(), manifest: `{"manifests":[],"layers":[]}`, want: "the manifest is an index"},
		"JSON":   {reason: "The tag is garbage.", digest: signedDigest, signer: key(), manifest: `x`, want: "not valid JSON"},
		"Null":   {reason: "The tag is garbage.", digest: signedDigest, signer: key(), manifest: `null`, want: "not valid JSON"},
		"Layers": {reason: "The tag is garbage.", digest: signedDigest, signer: key(), manifest: `{"layers":1}`, want: "malformed"},
		"Full":   {reason: "Signatures are bounded.", digest: signedDigest, signer: key(), manifest: `{"layers":[{}` + strings.Repeat(",{}", 999) + `]}`, want: "already has 1000 signatures"},
		"Many":   {reason: "Signatures are bounded.", digest: signedDigest, signer: key(), manifest: `{"layers":[{}` + strings.Repeat(",{}", 1000) + `]}`, want: "more than 1000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			if tc.manifest != "" {
				m.manifests[Tag(tc.digest)] = []byte(tc.manifest)
			}
			added, err := Sign(t.Context(), m, repository, tc.digest, tc.signer)
			if added || err == nil || !strings.Contains(err.Error(), tc.want) || m.writes > 0 {
				t.Errorf("\n%s\nSign(...): want an error with %q and nothing written, got %t, %v", tc.reason, tc.want, added, err)
			}
		})
	}
}

// TestSignRaced checks that a signature that another client overwrites is written again.
func TestSignRaced(t *testing.T) {
	m := newMemory()
	other := newMemory()
	theirs := curve(t)
	sig(t, other, theirs)
	// A client that read before our write writes after it, without our signature.
	stale := other.manifests[Tag(signedDigest)]
	maps.Copy(m.blobs, other.blobs)
	var once sync.Once
	m.before = func(m *memory) {
		once.Do(func() {
			go func() {
				for {
					m.mu.Lock()
					if _, ok := m.manifests[Tag(signedDigest)]; ok {
						m.manifests[Tag(signedDigest)] = stale
						m.mu.Unlock()
						return
					}
					m.mu.Unlock()
				}
			}()
		})
	}
	if !sig(t, m, key()) {
		t.Error("Sign(...): nothing was added")
	}
	for _, k := range []crypto.Signer{key(), theirs} {
		if err := Verify(t.Context(), m, signedDigest, k.Public()); err != nil {
			t.Errorf("Verify(...): a signature was lost: %v", err)
		}
	}
}

// TestSignTogether signs concurrently, in memory and in a registry.
func TestSignTogether(t *testing.T) {
	r := controlplane.RegistryFor(t, controlplane.WebOptions{})
	remote, err := remote.New(r.Host()+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := layout.Create(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer layout.Close()
	for name, s := range map[string]store.Store{"Memory": newMemory(), "Registry": remote, "Layout": layout} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			var signers []crypto.Signer
			for range 6 {
				signers = append(signers, curve(t))
			}
			for _, k := range signers {
				wg.Go(func() {
					if _, err := Sign(t.Context(), s, repository, signedDigest, k); err != nil {
						t.Errorf("Sign(...): %v", err)
					}
				})
			}
			wg.Wait()
			for i, k := range signers {
				if err := Verify(t.Context(), s, signedDigest, k.Public()); err != nil {
					t.Errorf("Verify(...) with key %d: %v", i, err)
				}
			}
		})
	}
}

func TestSignCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := newMemory()
	m.before = func(*memory) { cancel() }
	if _, err := Sign(ctx, m, repository, signedDigest, key()); !errors.Is(err, context.Canceled) {
		t.Errorf("Sign(...): want that it stops, got %v", err)
	}
}
