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
		"Any":         {"Any other error is a failure.", errors.New("boom"), 1},
		"Usage":       {"The command line is wrong.", Usagef("want %d", 1), 2},
		"NotFound":    {"NotFoundf sets the code.", NotFoundf("no Kyma"), 3},
		"Registry":    {"A manifest does not exist in a registry.", errors.Wrap(&store.NotFoundError{}, "cannot pull"), 3},
		"API":         {"An object does not exist.", kerrors.NewNotFound(schema.GroupResource{}, "x"), 3},
		"Unverified":  {"A descriptor is not signed.", errors.Wrap(&ocm.VerificationError{}, "x"), 4},
		"Unsigned":    {"A manifest is not signed.", errors.Wrap(&cosign.NotSignedError{}, "x"), 4},
		"Exists":      {"A tag has other content.", errors.Wrap(&store.ExistsError{}, "x"), 5},
		"Timeout":     {"The context has expired.", errors.Wrap(context.DeadlineExceeded, "x"), 6},
		"Interrupted": {"The user interrupts.", errors.Wrap(context.Canceled, "x"), 1},
		"Outermost":   {"An explicit code takes precedence.", WithCode(1, NotFoundf("x")), 1},
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

func TestEnded(t *testing.T) {
	broken := errors.New("broken")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	type want struct {
		err  error
		code ExitCode
	}
	cases := map[string]struct {
		reason string
		ctx    context.Context
		err    error
		want   want
	}{
		"Runs":        {"The error is returned unchanged.", t.Context(), broken, want{broken, ExitFailure}},
		"Late":        {"An error after a timeout has the code of timeouts.", late, broken, want{broken, ExitTimeout}},
		"LateExists":  {"An explicit code is kept.", late, WithCode(ExitExists, broken), want{broken, ExitExists}},
		"Interrupted": {"After an interrupt, the error is that of the context.", interrupted, broken, want{context.Canceled, ExitFailure}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Ended(tc.ctx, tc.err)
			if !errors.Is(got, tc.want.err) || CodeOf(got) != tc.want.code {
				t.Errorf("\n%s\nEnded(...): want %v with code %d, got %v with code %d", tc.reason, tc.want.err, tc.want.code, got, CodeOf(got))
			}
		})
	}
}
