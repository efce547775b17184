// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
)

// TestDataMemory checks that a default custom resource that is too large is refused before it is read, and that a template is not invalid
// because other archives use the memory.
func TestDataMemory(t *testing.T) {
	type args struct {
		text string
		// others is the memory that other archives have, of 1 MiB.
		others int64
	}
	type want struct {
		Text    string
		Err     error
		Invalid bool
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Large": {
			reason: "A file that is too large is refused by its header.", args: args{text: strings.Repeat("#", maxData+1)},
			want: want{Text: `file "cr.yaml" has 262145 bytes, which is more than the limit of 262144 bytes`, Err: cmpopts.AnyError, Invalid: true},
		},
		"Busy": {
			reason: "A template is not at fault if it must wait for others.", args: args{text: "a: b", others: 1 << 20},
			want: want{Text: decoding.ErrArchivesBusy.Error(), Err: decoding.ErrArchivesBusy},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			archives := decoding.NewArchives(1 << 20)
			for left := tc.args.others; left > 0; left -= 1 << 19 {
				other, done := decoding.HoldArchive(t.Context())
				defer done()
				if err := errors.Join(archives.Take(other, 1<<19), decoding.FinishArchive(other)); err != nil {
					t.Fatal(err)
				}
			}
			p := newPuller()
			layer := pack(t, "cr.yaml", tc.args.text)
			p.content["r/x "+sum(layer)] = layer
			late, cancel := context.WithTimeout(t.Context(), 0)
			defer cancel()
			ctx, done := decoding.HoldArchive(late)
			defer done()
			_, err := NewResolver(p, archive.Limits{Archives: archives}).customResource(ctx, &registry{puller: p},
				&v1alpha1.Source{Repo: "r", Name: "x", Ref: sum(layer)})
			var i *InvalidError
			got := want{Text: tc.want.Text, Err: err, Invalid: errors.As(err, &i)}
			if err == nil || !strings.HasSuffix(err.Error(), tc.want.Text) {
				got.Text = ""
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\ncustomResource(...): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
