// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestReadCRDs(t *testing.T) {
	all, err := ReadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range all {
		got = append(got, d.GetName())
	}
	want := []string{
		"clusterproviderconfigs.kyma.m.crossplane.io", "kymas.kyma.m.crossplane.io", "kymasets.kyma.m.crossplane.io",
		"manifests.kyma.m.crossplane.io", "modulereleasemetas.kyma.m.crossplane.io", "moduletemplates.kyma.m.crossplane.io",
		"providerconfigs.kyma.m.crossplane.io", "providerconfigusages.kyma.m.crossplane.io", "rolloutpolicies.kyma.m.crossplane.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readCRDs(): -want, +got:\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	kyma := Object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: "team-a", Name: "default"}
	conflict := func(n int) error {
		s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{}}
		for range n {
			s.Details.Causes = append(s.Details.Causes, metav1.StatusCause{
				Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.forProvider.channel", Message: `conflict with "kubectl-edit" using kyma.m.crossplane.io/v1alpha1`,
			})
		}
		return &kerrors.StatusError{ErrStatus: s}
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string
		code   command.ExitCode
	}{
		"Conflict": {
			reason: "A conflict names the field, its owner, and what to do.", err: conflict(1), code: command.ExitExists,
			want: `Kyma team-a/default: field spec.forProvider.channel is owned by "kubectl-edit"; use --force-conflicts to take over these fields`,
		},
		"Many":  {reason: "Only some fields are named.", err: conflict(100), code: command.ExitExists, want: "and more fields; use"},
		"Other": {reason: "Other errors are wrapped.", err: kerrors.NewBadRequest("no"), code: command.ExitFailure, want: "cannot apply Kyma team-a/default: no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := explain(tc.err, kyma)
			if !strings.Contains(got.Error(), tc.want) || command.CodeOf(got) != tc.code {
				t.Errorf("%s\nexplain(...): want %q with exit code %d, got %q with %d", tc.reason, tc.want, tc.code, got, command.CodeOf(got))
			}
		})
	}
}
