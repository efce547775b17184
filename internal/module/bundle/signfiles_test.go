// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

// TestSignLeavesNothing checks that a signed layout only contains the signed module, and not the unsigned one.
func TestSignLeavesNothing(t *testing.T) {
	path := layoutOf(t, "dir", push(t, startRegistry(t), moduleOf("1.0.0")))
	count := func() int {
		blobs, err := os.ReadDir(filepath.Join(path, "blobs", "sha256"))
		if err != nil {
			t.Fatal(err)
		}
		return len(blobs)
	}
	before := count()
	l, err := layout.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := signOptions()
	o.Cosign = false
	if _, err := Sign(t.Context(), l, "1.0.0", o); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != before {
		t.Errorf("there were %d blobs, and %d are there now that it is signed", before, got)
	}
}
