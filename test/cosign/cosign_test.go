// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// password is the password of the keys that cosign uses.
const password = "a password of a test"

// tool runs the real cosign without a home directory. It can only reach the registry on the loopback interface.
func tool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := tools.Path(t.Context(), tools.Cosign)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = home
	// Requests to other hosts fail immediately.
	cmd.Env = []string{"HOME=" + home, "TUF_ROOT=" + home, "COSIGN_PASSWORD=" + password, "HTTPS_PROXY=http://127.0.0.1:1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// verify verifies a signature with the real cosign.
func verify(t *testing.T, public, reference string) (string, error) {
	t.Helper()
	return tool(t, "verify", "--key", public, "--insecure-ignore-tlog=true", "--allow-http-registry", reference)
}

// sign signs with the real cosign, in its classic format.
func sign(t *testing.T, private, reference string) {
	t.Helper()
	out, err := tool(t, "sign", "--key", private, "--new-bundle-format=false", "--use-signing-config=false", "--tlog-upload=false",
		"--allow-http-registry", "--yes", reference)
	if err != nil {
		t.Fatalf("cosign sign: %v:\n%s", err, out)
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func publicFile(t *testing.T, key crypto.PublicKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "key.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// imported imports a private key into the real cosign, which requires an encrypted key.
func imported(t *testing.T, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(t.TempDir(), "imported")
	plain := write(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if out, err := tool(t, "import-key-pair", "--key", plain, "--output-key-prefix", prefix, "--yes"); err != nil {
		t.Fatalf("cosign import-key-pair: %v:\n%s", err, out)
	}
	return prefix + ".key"
}

// keys returns keys of all kinds.
func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	out := map[string]crypto.Signer{}
	r, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	out["RSA"], out["ECDSA"], out["ECDSA384"], out["Ed25519"] = r, e, strong, d
	return out
}

// place pushes a unique manifest, and returns its location.
func place(t *testing.T, r *controlplane.Registry, content string) (s store.Store, pushed controlplane.Pushed) {
	t.Helper()
	pushed, err := r.PushBlob(t.Context(), "component-descriptors/example.org/x", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	s, err = remote.New(pushed.Repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, pushed
}

func start(t *testing.T) *controlplane.Registry {
	t.Helper()
	return controlplane.RegistryFor(t, controlplane.WebOptions{})
}

// TestCosignAcceptsOurs checks that cosign, which admission controllers use, accepts our signatures, in the format of cosign
// version 2.
func TestCosignAcceptsOurs(t *testing.T) {
	r := start(t)
	for name, key := range keys(t) {
		t.Run(name, func(t *testing.T) {
			s, pushed := place(t, r, name)
			reference := pushed.Repository + "@" + pushed.Manifest
			public := publicFile(t, key.Public())
			if out, err := verify(t, public, reference); err == nil {
				t.Fatalf("cosign verifies what no one has signed:\n%s", out)
			}
			if added, err := cosign.Sign(t.Context(), s, pushed.Repository, pushed.Manifest, key); err != nil || !added {
				t.Fatalf("Sign(...): %t, %v", added, err)
			}
			out, err := verify(t, public, reference)
			if err != nil || !strings.Contains(out, pushed.Manifest) || !strings.Contains(out, `"docker-reference":"`+pushed.Repository+`"`) {
				t.Errorf("cosign verify: %v:\n%s", err, out)
			}
			other, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := verify(t, publicFile(t, other.Public()), reference); err == nil {
				t.Errorf("cosign verifies with another key:\n%s", out)
			}
		})
	}
}

// TestCosignRefusesMoved checks that a signature is not accepted for a different manifest.
func TestCosignRefusesMoved(t *testing.T) {
	r := start(t)
	key := keys(t)["ECDSA"]
	public := publicFile(t, key.Public())
	s, signed := place(t, r, "signed")
	_, changed := place(t, r, "changed")
	// A tag that first refers to the signed manifest, and then to a different one.
	move := func(digest string) {
		data, _, err := s.Manifest(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutManifest(t.Context(), data, "v1"); err != nil {
			t.Fatal(err)
		}
	}
	move(signed.Manifest)
	if _, err := cosign.Sign(t.Context(), s, signed.Repository, signed.Manifest, key); err != nil {
		t.Fatal(err)
	}
	if out, err := verify(t, public, signed.Repository+":v1"); err != nil {
		t.Fatalf("cosign verify: %v:\n%s", err, out)
	}
	move(changed.Manifest)
	if out, err := verify(t, public, signed.Repository+":v1"); err == nil {
		t.Errorf("cosign verifies a tag that was moved:\n%s", out)
	}
	// The signature itself, stored for the other manifest.
	data, _, err := s.Manifest(t.Context(), cosign.Tag(signed.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutManifest(t.Context(), data, cosign.Tag(changed.Manifest)); err != nil {
		t.Fatal(err)
	}
	if out, err := verify(t, public, signed.Repository+":v1"); err == nil {
		t.Errorf("cosign verifies a signature of something else:\n%s", out)
	}
	var unsigned *cosign.NotSignedError
	if err := cosign.Verify(t.Context(), s, changed.Manifest, key.Public()); !errors.As(err, &unsigned) {
		t.Errorf("Verify(...): want a NotSignedError, got %v", err)
	}
}

// TestOursAcceptsCosign checks that signatures of the real cosign are accepted, and that both can exist at the same time.
func TestOursAcceptsCosign(t *testing.T) {
	r := start(t)
	ours, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, theirs := range keys(t) {
		t.Run(name, func(t *testing.T) {
			s, pushed := place(t, r, name)
			reference := pushed.Repository + "@" + pushed.Manifest
			sign(t, imported(t, theirs), reference)
			if err := cosign.Verify(t.Context(), s, pushed.Manifest, theirs.Public()); err != nil {
				t.Errorf("Verify(...): %v", err)
			}
			var unsigned *cosign.NotSignedError
			if err := cosign.Verify(t.Context(), s, pushed.Manifest, ours.Public()); !errors.As(err, &unsigned) {
				t.Errorf("Verify(...) with another key: want a NotSignedError, got %v", err)
			}
			// With these kinds of keys, cosign version 3 creates signatures that its own verify command only accepts with
			// additional flags, so one of our signatures is still useful.
			adds := name == "ECDSA384" || name == "Ed25519"
			if added, err := cosign.Sign(t.Context(), s, pushed.Repository, pushed.Manifest, theirs); err != nil || added != adds {
				t.Errorf("Sign(...) with the key of cosign: got %t, %v, want %t", added, err, adds)
			}
			if added, err := cosign.Sign(t.Context(), s, pushed.Repository, pushed.Manifest, ours); err != nil || !added {
				t.Errorf("Sign(...): %t, %v", added, err)
			}
			for _, key := range []crypto.Signer{theirs, ours} {
				if err := cosign.Verify(t.Context(), s, pushed.Manifest, key.Public()); err != nil {
					t.Errorf("Verify(...) of both: %v", err)
				}
				if out, err := verify(t, publicFile(t, key.Public()), reference); err != nil {
					t.Errorf("cosign verify of both: %v:\n%s", err, out)
				}
			}
		})
	}
}

// TestSamePayload checks that we sign the same payload as cosign, and that RSA signatures are identical.
func TestSamePayload(t *testing.T) {
	r := start(t)
	key := keys(t)["RSA"]
	s, pushed := place(t, r, "same")
	sign(t, imported(t, key), pushed.Repository+"@"+pushed.Manifest)
	theirs, _, err := s.Manifest(t.Context(), cosign.Tag(pushed.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	l, err := layout.Create(t.Context(), filepath.Join(t.TempDir(), "layout"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := cosign.Sign(t.Context(), l, pushed.Repository, pushed.Manifest, key); err != nil {
		t.Fatal(err)
	}
	ours, _, err := l.Manifest(t.Context(), cosign.Tag(pushed.Manifest))
	if err != nil {
		t.Fatal(err)
	}
	// The order of the fields can differ, but the content of the layers and the config must not.
	for _, part := range []string{`"layers":[`, `"config":{`} {
		if a, b := cut(ours, part), cut(theirs, part); !bytes.Equal(a, b) {
			t.Errorf("%s: we write\n%s\ncosign writes\n%s", part, a, b)
		}
	}
}

// cut returns the digests in one part of a manifest.
func cut(manifest []byte, part string) []byte {
	_, rest, _ := bytes.Cut(manifest, []byte(part))
	_, rest, _ = bytes.Cut(rest, []byte(`"digest":`))
	return rest[:min(len(rest), 73)]
}
