// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestVerify checks which modules are verified, and the result.
func TestVerify(t *testing.T) {
	r := startRegistry(t)
	signed := moduleOf("1.0.0")
	signed.Sign = &controlplane.Signing{Name: signatureName, Key: keyPair()}
	pushed := push(t, r, signed)
	tampered := moduleOf("1.1.0")
	tampered.Sign = signed.Sign
	tampered.Tamper = func(d []byte) []byte { return []byte(strings.Replace(string(d), `"internal"`, `"external"`, 1)) }
	push(t, r, tampered)
	push(t, r, moduleOf("1.2.0"))
	chartDigest := layerOf(t, pushed, "web")
	skeletonDigest := layerOf(t, pushed, skeleton)
	key := publicKey(t, keyPair(), signatureName)
	cases := map[string]struct {
		reason    string
		reference string
		keys      []ocm.Key
		want      string
	}{
		"Signed":     {reason: "A signed module is verified.", reference: pushed.Repository + ":1.0.0", keys: []ocm.Key{key}},
		"Layout":     {reason: "A signed module in a layout is verified.", reference: layoutOf(t, "a", pushed), keys: []ocm.Key{key}},
		"OtherName":  {reason: "A signature of another name does not count.", reference: pushed.Repository + ":1.0.0", keys: []ocm.Key{publicKey(t, keyPair(), "other")}, want: "no signature named other"},
		"NoKeys":     {reason: "Without keys nothing is verified.", reference: pushed.Repository + ":1.0.0", want: "no key"},
		"Unsigned":   {reason: "An unsigned module is not verified.", reference: pushed.Repository + ":1.2.0", keys: []ocm.Key{key}, want: "no signature"},
		"Tampered":   {reason: "A changed descriptor is not what was signed.", reference: pushed.Repository + ":1.1.0", keys: []ocm.Key{key}, want: "was changed after it was signed"},
		"Swapped":    {reason: "A layer with other content is found.", reference: damage(t, layoutOf(t, "b", pushed), chartDigest, []byte("other")), keys: []ocm.Key{key}, want: "resource web: layer " + chartDigest + " was changed"},
		"Truncated":  {reason: "Truncated content is not verified.", reference: damage(t, layoutOf(t, "c", pushed), chartDigest, nil), keys: []ocm.Key{key}, want: "was changed"},
		"Missing":    {reason: "Missing content is not verified.", reference: damage(t, layoutOf(t, "d", pushed), chartDigest), keys: []ocm.Key{key}, want: "is missing"},
		"NotUsed":    {reason: "Layers that are not installed count too.", reference: damage(t, layoutOf(t, "e", pushed), skeletonDigest, []byte("x")), keys: []ocm.Key{key}, want: "resource moduletemplate"},
		"NotUsedToo": {reason: "Blobs that are not used must exist, too.", reference: damage(t, layoutOf(t, "f", pushed), skeletonDigest), keys: []ocm.Key{key}, want: "is missing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Verify(t.Context(), open(t, tc.reference), tc.keys)
			var unverified *ocm.VerificationError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("\n%s\n%v", tc.reason, err)
			case tc.want != "" && (!errors.As(err, &unverified) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("\n%s\nwant a VerificationError with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func layerOf(t *testing.T, p controlplane.PushedComponent, resource string) string {
	t.Helper()
	d, err := ocm.Decode(p.Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Resources() {
		if r.Name == resource {
			return r.Access.Digest
		}
	}
	t.Fatalf("no resource %s", resource)
	return ""
}

// damage damages a blob of a layout: it replaces the content or deletes the blob.
func damage(t *testing.T, layout, digest string, content ...[]byte) string {
	t.Helper()
	file := filepath.Join(layout, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, data := range content {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return layout
}
