// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"strings"
	"testing"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	"github.com/google/go-cmp/cmp"
)

const trialNormalised = `[{"component":[{"componentReferences":[]},{"name":"kyma-project.io/module/sample"},{"provider":"internal"},` +
	`{"resources":[[{"digest":[{"hashAlgorithm":"sha256"},{"normalisationAlgorithm":"genericBlobDigest/v1"},` +
	`{"value":"2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375"}]},{"extraIdentity":null},{"name":"sample-operator"},` +
	`{"relation":"local"},{"type":"helm-chart"},{"version":"0.0.1"}]]},{"version":"0.0.1"}]},{"meta":[{"schemaVersion":"v2"}]}]`

// TestNormalisedGolden checks the form that existing signatures cover. It must never change.
func TestNormalisedGolden(t *testing.T) {
	d := decoded(t, read(t, "trial.json"))
	got, err := d.Normalised()
	if diff := cmp.Diff(trialNormalised, string(got)); diff != "" || err != nil {
		t.Errorf("Normalised(): %v, -want, +got:\n%s", err, diff)
	}
	if got, want := hashOf(t, d), "7995708a9655858467e6fdc24b21047d453442c72fe51ff3b921728359777ea6"; got != want {
		t.Errorf("Hash(): got %q, want %q", got, want)
	}
}

// TestNormalisedLibrary checks the vector that component-spec itself tests,
// whose descriptor is not valid.
func TestNormalisedLibrary(t *testing.T) {
	spec := &v2.ComponentDescriptor{
		Metadata: v2.Metadata{Version: "v2"},
		ComponentSpec: v2.ComponentSpec{
			ObjectMeta: v2.ObjectMeta{Name: "CD-Name", Version: "v0.0.1"},
			ComponentReferences: []v2.ComponentReference{{
				Name: "compRefName", ComponentName: "compRefNameComponentName", Version: "v0.0.2compRef",
				ExtraIdentity: v2.Identity{"refKey": "refName"},
				Digest:        &v2.DigestSpec{HashAlgorithm: "sha256", NormalisationAlgorithm: "jsonNormalisation/v1", Value: "00000000000000"},
			}},
			Resources: []v2.Resource{{
				IdentityObjectMeta: v2.IdentityObjectMeta{Name: "Resource1", Version: "v0.0.3resource", ExtraIdentity: v2.Identity{"key": "value"}},
				Digest:             &v2.DigestSpec{HashAlgorithm: "sha256", NormalisationAlgorithm: "ociArtifactDigest/v1", Value: "00000000000000"},
				Access:             v2.NewUnstructuredType(v2.OCIRegistryType, map[string]any{"imageRef": "ref"}),
			}},
		},
	}
	data, err := normalise(spec)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sum(crypto.SHA256, data), "6c571bb6e351ae755baa7f26cbd1f600d2968ab8b88e25a3bab277e53afdc3ad"; got != want {
		t.Errorf("normalise(...): hash %q of %s, want %q", got, data, want)
	}
}

// TestNormalisedMore checks forms for which there are no other test vectors.
func TestNormalisedMore(t *testing.T) {
	res := func(fields string) string {
		return with(`,"resources":[{"name":"ab","version":"1","type":"a<b","relation":"local",` + fields + "}]")
	}
	const head = `[{"component":[{"componentReferences":[]},{"name":"example.org/module/a"},{"provider":"us"},{"resources":[[`
	const tail = `{"name":"ab"},{"relation":"local"},{"type":"a<b"},{"version":"1"}]]},{"version":"1.2.3"}]},{"meta":[{"schemaVersion":"v2"}]}]`
	cases := map[string]struct {
		reason string
		data   string
		want   string
		err    string
	}{
		"None":          {reason: "Without access there is no digest.", data: res(`"access":{"type":"None"}`), want: head + `{"extraIdentity":null},` + tail},
		"Excluded":      {reason: "A resource that is excluded is marked in its digest.", data: res(`"access":{"type":"x"},"digest":{"hashAlgorithm":"NO-DIGEST","normalisationAlgorithm":"EXCLUDE-FROM-SIGNATURE","value":"NO-DIGEST"}`), want: head + `{"digest":[{"hashAlgorithm":"NO-DIGEST"},{"normalisationAlgorithm":"EXCLUDE-FROM-SIGNATURE"},{"value":"NO-DIGEST"}]},{"extraIdentity":null},` + tail},
		"ExtraIdentity": {reason: "Its keys are sorted.", data: res(`"access":{"type":"None"},"extraIdentity":{"os":"linux","arch":"arm"}`), want: head + `{"extraIdentity":[{"arch":"arm"},{"os":"linux"}]},` + tail},
		"NoDigest":      {reason: "All must be signed.", data: res(`"access":{"type":"x"}`), err: `cannot normalise component example.org/module/a:1.2.3: resource "ab" has no digest`},
		"NoneDigest":    {reason: "A resource without content has no digest.", data: res(`"access":{"type":"None"},"digest":{"hashAlgorithm":"sha256","normalisationAlgorithm":"x","value":"y"}`), err: `resource "ab" must not have a digest, because the type of its access is None`},
		"Reference":     {reason: "References must be signed as well.", data: with(`,"componentReferences":[{"name":"ab","componentName":"b.org/b","version":"1"}]`), err: `reference "ab" has no digest`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := decoded(t, []byte(tc.data)).Normalised()
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("\n%s\nNormalised(): -want, +got:\n%s", tc.reason, diff)
			}
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Errorf("\n%s\nNormalised(): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}
