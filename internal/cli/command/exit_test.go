// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/cosign"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func TestCodeOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   ExitCode
	}{
		"Nil":         {"No error is success.", nil, 0},
		"Any":         {"What is not known is a failure.", errors.New("boom"), 1},
		"Usage":       {"The command line is wrong.", Usagef("want %d", 1), 2},
		"NotFound":    {"A command names what is missing.", NotFoundf("no Kyma"), 3},
		"Registry":    {"A registry has no such manifest.", errors.Wrap(&store.NotFoundError{}, "cannot pull"), 3},
		"API":         {"The API server knows no such object.", kerrors.NewNotFound(schema.GroupResource{}, "x"), 3},
		"Unverified":  {"A descriptor is not signed.", errors.Wrap(&ocm.VerificationError{}, "x"), 4},
		"Unsigned":    {"A manifest is not signed.", errors.Wrap(&cosign.NotSignedError{}, "x"), 4},
		"Exists":      {"A tag has other content.", errors.Wrap(&store.ExistsError{}, "x"), 5},
		"Timeout":     {"The time is over.", errors.Wrap(context.DeadlineExceeded, "x"), 6},
		"Interrupted": {"A person interrupts.", errors.Wrap(context.Canceled, "x"), 1},
		"Outermost":   {"Who gives a code knows better.", WithCode(1, NotFoundf("x")), 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := CodeOf(tc.err); got != tc.want {
				t.Errorf("\n%s\nCodeOf(%v): want %d, got %d", tc.reason, tc.err, tc.want, got)
			}
		})
	}
	if WithCode(ExitExists, nil) != nil {
		t.Error("WithCode of no error is an error")
	}
}
