// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/source/sourcetest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// TestNewSourceType shows that a bundle supports a new source type without changes.
func TestNewSourceType(t *testing.T) {
	bundle, err := (&content{}).bundleOf(named("n", "m", installs(*sourcetest.Tree("https://trees.example.org/a", digest))))
	if err != nil {
		t.Fatal(err)
	}
	in := &bundle.Installs[0]
	if in.Digest != "tree https://trees.example.org/a@"+digest || in.Form != manifest.FormPlain || in.Name != "a" || in.Namespace != "ns" {
		t.Errorf("bundleOf(...): got %+v", in)
	}
	c, err := in.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Files()
	if diff := cmp.Diff([]source.File{{Name: "layer.yaml", Data: []byte(sourcetest.Text)}}, files); err != nil || diff != "" {
		t.Errorf("Fetch(...): %v, -want, +got:\n%s", err, diff)
	}
}
