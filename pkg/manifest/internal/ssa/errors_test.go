// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"OneLine": {
			reason: "A condition has one line.",
			err:    errors.New("a\n  b"),
			want:   "a b",
		},
		"NoPath": {
			reason: "The path repeats the name of the object.",
			err:    &url.Error{Op: "Get", URL: "https://h/api?x=y", Err: errors.New("connection refused")},
			want:   "connection refused",
		},
		"NoValue": {
			reason: "A value that was sent to the API server may be a secret.",
			err:    errors.New(`.stringData.token: expected string, got &value.valueUnstructured{Value:[]interface {}{"hunter2"}}`),
			want:   ".stringData.token: expected string",
		},
		"NoValues": {
			reason: "Each field is named.",
			err: errors.New("errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:1}" +
				"\n  .data.b: expected string, got &value.valueUnstructured{Value:2}"),
			want: "errors: .data.a: expected string .data.b: expected string",
		},
		"NoValueWithoutQuotes": {
			reason: "If a map is expected, the API server formats the value differently.",
			err:    errors.New(".stringData: expected map, got &{[hunter2\nhunter3]}"),
			want:   ".stringData: expected map",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Explain(tc.err).Error()); diff != "" {
				t.Errorf("\n%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsNamespaceMissing(t *testing.T) {
	missing := func(kind, name string) error {
		return &kerrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{Kind: kind, Name: name}}}
	}
	cases := map[string]struct {
		err       error
		namespace string
		want      bool
	}{
		"Namespace": {err: missing("namespaces", "apps"), namespace: "apps", want: true},
		"Wrapped":   {err: errors.Wrap(missing("namespaces", "apps"), "x"), namespace: "apps", want: true},
		"Other":     {err: missing("namespaces", "apps"), namespace: "web"},
		"Object":    {err: missing("configmaps", "apps"), namespace: "apps"},
		"Cluster":   {err: missing("namespaces", "")},
		"NoDetails": {err: &kerrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound}}, namespace: "apps"},
		"None":      {namespace: "apps"},
		"Network":   {err: context.DeadlineExceeded, namespace: "apps"},
	}
	for name, tc := range cases {
		if got := IsNamespaceMissing(tc.err, tc.namespace); got != tc.want {
			t.Errorf("IsNamespaceMissing %s: want %v, got %v", name, tc.want, got)
		}
	}
}

func TestExplainKeepsTheReason(t *testing.T) {
	terminating := &kerrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "no\nway",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
	err := Explain(terminating)
	if err.Error() != "its namespace is being deleted: no way" || !kerrors.IsForbidden(err) {
		t.Errorf("explained: %v", err)
	}
	if Explain(nil) != nil {
		t.Error("no error has no explanation")
	}
}
