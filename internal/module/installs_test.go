// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// TestTooManyInstalls checks that a module with more installs than a Manifest can have is refused when it is resolved.
func TestTooManyInstalls(t *testing.T) {
	for n, want := range map[int]string{
		maxInstalls:     "",
		maxInstalls + 1: "the module has 33 installs, but a Manifest can have at most 32: split it into several modules",
	} {
		var resources []fields
		for i := range n {
			resources = append(resources, local(fmt.Sprintf("chart-%d", i), "helm-chart", fmt.Append(nil, i)))
		}
		_, err := NewResolver(nil, archive.Limits{}).Resolve(t.Context(), nil, inlineTemplate(describe(t, sample, "1.0.0", resources)))
		got, invalid := "", (*InvalidError)(nil)
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" || errors.As(err, &invalid) != (want != "") {
			t.Errorf("Resolve(...) of %d installs: -want, +got:\n%s", n, diff)
		}
	}
}
