// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// TestReplaceDescriptor checks that signing a component later has the same result as signing it when it is created, in all forms.
func TestReplaceDescriptor(t *testing.T) {
	d := trial(t)
	layers := []Layer{{MediaType: "application/gzip", Digest: "sha256:" + trialBlob, Size: 5}, {Digest: digestOfBlob([]byte("x")), Size: 1}}
	after := signed(t, d)
	for name, o := range map[string][]Option{
		"CNUDIE": nil, "JSON": {JSONDescriptor()}, "OCM": {OCMMediaTypes()}, "OCMJSON": {OCMMediaTypes(), JSONDescriptor()},
	} {
		t.Run(name, func(t *testing.T) {
			m, c, _, err := Encode(d, layers, o...)
			if err != nil {
				t.Fatal(err)
			}
			wantManifest, wantConfig, wantLayer, err := Encode(after, layers, o...)
			if err != nil {
				t.Fatal(err)
			}
			gotManifest, gotConfig, gotLayer, err := ReplaceDescriptor(m, c, after)
			if err != nil {
				t.Fatalf("ReplaceDescriptor(...): %v", err)
			}
			want := []string{string(wantManifest), string(wantConfig), string(wantLayer)}
			if diff := cmp.Diff(want, []string{string(gotManifest), string(gotConfig), string(gotLayer)}); diff != "" {
				t.Errorf("ReplaceDescriptor(...): -want, +got:\n%s", diff)
			}
		})
	}
}

// TestReplaceDescriptorKeeps checks that data from other tools is not lost.
func TestReplaceDescriptorKeeps(t *testing.T) {
	d := trial(t)
	layer, err := packDescriptor(d.JSON())
	if err != nil {
		t.Fatal(err)
	}
	digest := digestOfBlob(layer)
	config := []byte(`{"other":[1,2],"componentDescriptorLayer":{"size":1,"digest":"` + digest + `","mediaType":"` + legacyDescriptor + `","x":1}}`)
	manifest := []byte(`{"annotations":{"a":"b"},"layers":[{"digest":"sha256:1","size":2,"mediaType":"c","annotations":{"d":"e"}},` +
		`{"mediaType":"` + legacyDescriptor + `","digest":"` + digest + `","size":3,"annotations":{"f":"g"},"data":"AA=="}],` +
		`"config":{"mediaType":"` + legacyConfig + `","digest":"` + digestOfBlob(config) + `","size":4},"schemaVersion":2,"subject":{"h":5}}`)
	after := signed(t, d)
	m, c, l, err := ReplaceDescriptor(manifest, config, after)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"annotations":{"a":"b"},"layers":[{"digest":"sha256:1","size":2,"mediaType":"c","annotations":{"d":"e"}},{"mediaType":"` + legacyDescriptor,
		`"annotations":{"f":"g"}}]`, `"subject":{"h":5}}`, digestOfBlob(c), digestOfBlob(l),
	} {
		if !bytes.Contains(m, []byte(want)) {
			t.Errorf("ReplaceDescriptor(...): %s is missing in %s", want, m)
		}
	}
	if bytes.Contains(m, []byte(`"data"`)) || bytes.Contains(m, []byte(digest)) || !bytes.Contains(c, []byte(`"other":[1,2]`)) || !bytes.Contains(c, []byte(`"x":1`)) {
		t.Errorf("ReplaceDescriptor(...): got manifest %s and config %s", m, c)
	}
	r := newRegistry()
	r.blobs["x "+digestOfBlob(c)], r.blobs["x "+digestOfBlob(l)] = c, l
	got, err := Describe(t.Context(), r, "x", m)
	if err != nil || !bytes.Equal(got.JSON(), after.JSON()) {
		t.Errorf("Describe(...): %v", err)
	}
}

func TestReplaceDescriptorRefuses(t *testing.T) {
	d := trial(t)
	m, c, _, err := Encode(d, []Layer{{Digest: "sha256:" + trialBlob}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason           string
		manifest, config []byte
		want             string
	}{
		"Manifest": {"The manifest is not that of a component.", []byte("{}"), c, "not a component"},
		"Config":   {"The config is not a JSON object.", m, []byte("[]"), "config is not valid JSON"},
		"Layer":    {"The config names another layer.", m, []byte(`{"componentDescriptorLayer":{"digest":"sha256:1"}}`), "refers to layer"},
		"Twice":    {"A duplicate field is refused, because two readers could interpret it differently.", append([]byte(`{"config":{},`), m[1:]...), c, "not a JSON object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := ReplaceDescriptor(tc.manifest, tc.config, d)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !isOneLine(err) {
				t.Errorf("\n%s\nReplaceDescriptor(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// FuzzObject checks that an object is written in the form in which it was read.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"b":1,"a":{"c":[null]},"":"<"}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(data))()
		var o, again object
		if json.Unmarshal(data, &o) != nil {
			return
		}
		out, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("Marshal(...): %v, of %q", err, data)
		}
		if err := json.Unmarshal(out, &again); err != nil || len(o) != len(again) {
			t.Errorf("Unmarshal(%q): %v", out, err)
		}
	})
}
