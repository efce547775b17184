// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/compress"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestSnapshot(t *testing.T) {
	mr := &v1alpha1.Manifest{}
	mr.Spec.ForProvider = v1alpha1.ManifestParameters{
		Version: "1", Drift: v1alpha1.DriftPolicyReport, Mode: v1alpha1.ModePlan, ImmutableFields: v1alpha1.ImmutableFieldsPolicyRecreate, Adoption: v1alpha1.AdoptionPolicyAdopt, Rollback: &v1alpha1.Rollback{},
		Resource: &runtime.RawExtension{Raw: []byte(`{"b":9007199254740993,"a":1}`)},
		Installs: []v1alpha1.Install{{Name: "a", ValuesFrom: []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s"}}}},
	}
	bundle := &manifest.Bundle{Installs: []manifest.Install{{Values: map[string]any{"password": "secret"}}}}
	one, err := New(mr, bundle, []any{"secret"})
	if err != nil {
		t.Fatal(err)
	}
	mr.Spec.ForProvider.Resource.Raw = []byte(`{"a":1,"b":9007199254740993}`)
	two, err := New(mr, bundle, []any{"secret"})
	if err != nil || one.Digest != two.Digest || !cmp.Equal(one.Data, two.Data) {
		t.Errorf("New(...): equal contents have equal snapshots: %v", err)
	}
	read := Read(one.Data)
	if read == nil || read.Digest != one.Digest || cmp.Diff([]any{"secret"}, read.Secrets) != "" {
		t.Fatalf("Read(...): %+v", read)
	}
	if q := read.Parameters; q.Drift != "" || q.Mode != "" || q.ImmutableFields != "" || q.Adoption != "" || q.Rollback != nil {
		t.Errorf("New(...): how to install is not part of it: %+v", q)
	}
	p := read.Restored(mr).Spec.ForProvider
	if string(p.Installs[0].Values.Raw) != `{"password":"secret"}` || p.Installs[0].ValuesFrom != nil || p.Adoption != v1alpha1.AdoptionPolicyAdopt || p.Drift != v1alpha1.DriftPolicyReport ||
		p.Mode != v1alpha1.ModePlan || p.ImmutableFields != v1alpha1.ImmutableFieldsPolicyRecreate {
		t.Errorf("Restored(...): %+v", p)
	}
	bundle.Installs[0].Values["password"] = "other"
	if other, err := New(mr, bundle, nil); err != nil || other.Digest == one.Digest {
		t.Errorf("New(...): another value is another snapshot: %v", err)
	}
	for _, bad := range [][]byte{nil, []byte("x"), one.Data[:20]} {
		if Read(bad) != nil {
			t.Errorf("Read(%q): what cannot be read is none", bad)
		}
	}
}

// TestBombs checks that a snapshot of a few kilobytes does not become gigabytes of parameters.
func TestSnapshotBombs(t *testing.T) {
	snapshot := func(field, value string, n int) string {
		return `{"format":1,"parameters":{"` + field + `":[` + strings.Repeat(value+",", n/(len(value)+1)) + value + `]}}`
	}
	const large = limit - 1<<10
	// most is the maximum size of everything that is allocated, including what is freed for one snapshot.
	const most = limit + 2<<20
	cases := map[string]struct {
		reason, text string
		most         int
		want         bool
	}{
		"Objects":   {reason: "An empty object becomes a whole install.", text: snapshot("installs", `{}`, large), most: most},
		"Lists":     {reason: "So does a value of the wrong type.", text: snapshot("installs", `[]`, large), most: most},
		"Texts":     {reason: "So does a text.", text: snapshot("installs", `""`, large), most: most},
		"Numbers":   {reason: "So does a number, which is the shortest value.", text: snapshot("installs", `0`, large), most: most},
		"Nulls":     {reason: "So does null.", text: snapshot("installs", `null`, large), most: most},
		"Readiness": {reason: "Other lists count, too.", text: snapshot("readiness", `{"conditions":[{}]}`, large), most: most},
		"Secrets":   {reason: "The values of Secrets count.", text: `{"format":1,"hidden":[` + strings.Repeat(`{"":0},`, large/7) + `0]}`, most: most},
		"Fits":      {reason: "As many installs as possible take a moderate amount of memory.", text: snapshot("installs", `null`, 5*(maxItems-10)), most: 64 << 20, want: true},
		"Large":     {reason: "Long values are allowed.", text: `{"format":1,"hidden":["` + strings.Repeat("a", large) + `"]}`, most: 3 * limit, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := compress.Gzip([]byte(tc.text), gzip.DefaultCompression)
			if err != nil {
				t.Fatal(err)
			}
			defer fuzztest.Within(t, fuzztest.Limits{Base: tc.most}, len(data))()
			if got := Read(data) != nil; got != tc.want {
				t.Errorf("\n%s\nRead(...): want a snapshot: %t, got one: %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestSealLimits checks that a snapshot that could not be read again is not stored.
func TestSealLimits(t *testing.T) {
	cases := map[string]struct {
		reason  string
		secrets []any
		want    bool
	}{
		"Most":  {reason: "The most values that can be read can be stored.", secrets: make([]any, maxItems-20), want: true},
		"Many":  {reason: "More of them are not stored.", secrets: make([]any, maxItems+1)},
		"Large": {reason: "Neither is a larger snapshot.", secrets: []any{strings.Repeat("a", limit)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Snapshot{Format: format, Secrets: tc.secrets}
			if err := s.Seal(); err != nil || s.Digest == "" || (len(s.Data) > 0) != tc.want {
				t.Errorf("\n%s\nSeal(): want data: %t, got %d bytes, digest %q, %v", tc.reason, tc.want, len(s.Data), s.Digest, err)
			}
			if read := Read(s.Data) != nil; read != tc.want {
				t.Errorf("\n%s\nRead(...): want a snapshot: %t, got one: %t", tc.reason, tc.want, read)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	s := &Snapshot{Format: format}
	if err := s.Seal(); err != nil {
		f.Fatal(err)
	}
	f.Add(s.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		if s := Read(data); s != nil {
			s.Restored(&v1alpha1.Manifest{})
		}
	})
}
