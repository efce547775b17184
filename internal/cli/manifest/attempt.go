// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// An unansweredError is the error of a write that may have succeeded, such as a write without a response.
type unansweredError struct {
	error

	attempted *unstructured.Unstructured
}

// Unwrap returns the wrapped error.
func (e *unansweredError) Unwrap() error { return e.error }

// unanswered wraps err in an unansweredError with the attempted object. It returns err unchanged if the API server has rejected
// the write.
func unanswered(attempted *unstructured.Unstructured, err error) error {
	if isRejected(err) {
		return err
	}
	return &unansweredError{error: err, attempted: attempted}
}

// resolveUnanswered checks whether a failed write succeeded in the control plane. If it did, resolveUnanswered sets d.written to
// the current object, so that restore can revert it.
func (d *planSession) resolveUnanswered(ctx context.Context, failure error) error {
	var e *unansweredError
	if !errors.As(failure, &e) {
		return nil
	}
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(d.kind)
	switch err := d.client.Get(ctx, d.NamespacedName, now); {
	case notfound.Is(err):
	case err != nil:
		return errors.Wrapf(err, "cannot read %s, which might be in plan mode (%s)", d, modeField)
	case isWritten(e.attempted, now):
		d.written = now
	}
	return nil
}

// isRejected reports whether an error is a response of an API server that did not write anything: a code 4xx other than a
// timeout.
func isRejected(err error) bool {
	var answer kerrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}

// isWritten reports whether an object is the result of the attempted write. The API server may have added defaults and, to a new
// object, the UID.
func isWritten(attempted, now *unstructured.Unstructured) bool {
	if uid := attempted.GetUID(); uid != "" && uid != now.GetUID() {
		return false
	}
	ours := slices.ContainsFunc(now.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == command.FieldManager })
	return ours && contains(now.Object["spec"], specOf(attempted, nil)) &&
		containsAll(now.GetLabels(), attempted.GetLabels()) && containsAll(now.GetAnnotations(), attempted.GetAnnotations())
}

// contains reports whether all contains each field of part with the same value. Lists must have the same length. A field that is
// null in part can have any value in all, because the API server sets a default.
func contains(all, part any) bool {
	switch part := part.(type) {
	case nil:
		return true
	case map[string]any:
		in, ok := all.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range part {
			if !contains(in[k], v) {
				return false
			}
		}
		return true
	case []any:
		in, ok := all.([]any)
		if !ok || len(in) != len(part) {
			return false
		}
		for i, v := range part {
			if !contains(in[i], v) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(all, part)
}

// containsAll reports whether all contains each entry of part.
func containsAll(all, part map[string]string) bool {
	for k, v := range part {
		if had, ok := all[k]; !ok || had != v {
			return false
		}
	}
	return true
}
