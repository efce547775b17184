// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// FuzzDecode checks that a decoded descriptor can be encoded and decoded again with the same meaning, and that other functions
// do not panic on it.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("{meta: &a {schemaVersion: v2}, component: *a}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		d, err := Decode(data)
		if err != nil {
			if !isOneLine(err) {
				t.Errorf("Decode(...): error of several lines: %q", err)
			}
			return
		}
		again, err := Decode(d.JSON())
		if err != nil {
			t.Fatalf("Decode(JSON()): %v", err)
		}
		if !bytes.Equal(d.JSON(), again.JSON()) {
			t.Errorf("JSON(): %s, and then %s", d.JSON(), again.JSON())
		}
		one, errOne := d.Normalised()
		two, errTwo := again.Normalised()
		if !bytes.Equal(one, two) || (errOne == nil) != (errTwo == nil) {
			t.Errorf("Normalised(): %s (%v), and then %s (%v)", one, errOne, two, errTwo)
		}
		if l, ok := d.Location(); ok {
			_, _, _ = l.Repository(d.Name())
		}
		d.References()
		_, _ = Verify([]*Descriptor{d}, []Key{keyOf(t, signedBy, ours())})
	})
}
