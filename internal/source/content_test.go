// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/tar"
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// packed is a Puller with one archive.
type packed struct {
	Puller

	data []byte
}

func (p packed) Layer(context.Context, oci.Registries, string, string) ([]byte, error) {
	return p.data, nil
}

func (p packed) ChartByDigest(context.Context, oci.Registries, string, string) ([]byte, error) {
	return p.data, nil
}

// TestLayerLimits checks which limits apply to the files of content.
func TestLayerLimits(t *testing.T) {
	const size = 5<<20 + 1
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "app/a.yaml", Typeflag: tar.TypeReg, Size: size}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	type args struct {
		source *v1alpha1.Source
		limits archive.Limits
	}
	type want struct {
		Files int
		Err   string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Chart":  {reason: "A file that is too large for a chart is refused before it is read.", args: args{source: OCIRef("r", "x", zeros)}, want: want{Err: `file "app/a.yaml" has 5242881 bytes, which is more than the limit of 5242880 bytes`}},
		"Raw":    {reason: "Other files can be larger.", args: args{source: Raw("r", "x", zeros)}, want: want{Files: 1}},
		"Memory": {reason: "All archives together are limited.", args: args{Raw("r", "x", zeros), archive.Limits{Archives: decoding.NewArchives(size)}}, want: want{Err: "larger than 3932160 bytes, the maximum for the memory limit of the provider"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := New(*tc.args.source)
			if err != nil {
				t.Fatal(err)
			}
			ctx, done := decoding.HoldArchive(t.Context())
			defer done()
			allowed := func(context.Context) (oci.Registries, error) { return nil, nil }
			c, err := s.Content().Layer(packed{data: b.Bytes()}, allowed, tc.args.limits).Fetch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			files, err := c.Files()
			got := want{Files: len(files)}
			if err != nil {
				got.Err = err.Error()
			}
			if strings.Contains(got.Err, tc.want.Err) && tc.want.Err != "" {
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFiles(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
