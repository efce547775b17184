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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
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
	if err.Error() != "the namespace is being deleted: no way" || !kerrors.IsForbidden(err) {
		t.Errorf("explained: %v", err)
	}
	if Explain(nil) != nil {
		t.Error("no error has no explanation")
	}
}

// A retryableError is an error of a source that reports whether a retry might succeed.
type retryableError bool

func (retryableError) Error() string     { return "no" }
func (e retryableError) Retryable() bool { return bool(e) }

// TestErrorClasses checks which errors reject an object, and which errors are transient.
func TestErrorClasses(t *testing.T) {
	pods, code := schema.GroupResource{Resource: "pods"}, func(code int) error {
		return kerrors.NewGenericServerResponse(code, "patch", schema.GroupResource{Resource: "pods"}, "a", "no", 0, true)
	}
	webhook := kerrors.NewInternalError(errors.New(`failed calling webhook "a.example.org": connection refused`))
	large := kerrors.NewInternalError(errors.New("etcdserver: request is too large"))
	owned := kerrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}, "no")
	type want struct{ Refused, Transient bool }
	cases := map[string]struct {
		reason string
		err    error
		want   want
	}{
		"Invalid":      {reason: "A field is wrong.", err: kerrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", nil), want: want{Refused: true}},
		"Forbidden":    {reason: "A permission is missing.", err: kerrors.NewForbidden(pods, "a", errors.New("no")), want: want{Refused: true}},
		"Owned":        {reason: "Another manager owns a field.", err: owned, want: want{Refused: true}},
		"Engine":       {reason: "The engine refuses an object.", err: errors.Wrap(&RefusedError{Err: errors.New("no")}, "a"), want: want{Refused: true}},
		"NoKind":       {reason: "The cluster does not serve the kind.", err: &cluster.NoKindError{}, want: want{Refused: true}},
		"TooLarge":     {reason: "etcd refuses the object, and the API server says 500.", err: large, want: want{Refused: true}},
		"Modified":     {reason: "A retry reads the object again.", err: kerrors.NewConflict(pods, "a", errors.New("no")), want: want{Refused: true, Transient: true}},
		"Unauthorized": {reason: "The API server rejects the credentials, not the object.", err: kerrors.NewUnauthorized("no"), want: want{Transient: true}},
		"Busy":         {reason: "The API server asks clients to retry later.", err: kerrors.NewTooManyRequests("no", 1), want: want{Transient: true}},
		"Webhook":      {reason: "A webhook does not answer.", err: webhook, want: want{Transient: true}},
		"Storage":      {reason: "etcd does not answer.", err: code(http.StatusInternalServerError), want: want{Transient: true}},
		"Gateway":      {reason: "A proxy does not reach the API server.", err: code(http.StatusBadGateway), want: want{Transient: true}},
		"Slow":         {reason: "The pass ended.", err: errors.Wrap(context.DeadlineExceeded, "a"), want: want{Transient: true}},
		"Source":       {reason: "A registry does not answer.", err: errors.Wrap(retryableError(true), "a"), want: want{Transient: true}},
		"SourceWrong":  {reason: "A registry refuses the credentials.", err: errors.Wrap(retryableError(false), "a")},
		"Other":        {reason: "A chart cannot be rendered.", err: errors.New("no")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, want{IsRefused(tc.err), IsTransient(tc.err)}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
