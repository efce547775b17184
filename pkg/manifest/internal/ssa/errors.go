// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// IsNamespaceMissing reports whether a request failed because the namespace of the object does not exist.
func IsNamespaceMissing(err error, namespace string) bool {
	return namespace != "" && notfound.IsObject(err, "namespaces", namespace)
}

// IsNoKind reports whether an error is a *cluster.NoKindError.
func IsNoKind(err error) bool {
	e := &cluster.NoKindError{}
	return errors.As(err, &e)
}

// IsNotServed reports whether a request failed because the cluster apparently does not serve the kind. This includes a 404 that
// does not come from an API server.
func IsNotServed(err error) bool {
	return IsNoKind(err) || notfound.Foreign(err)
}

// A PageError reports a successful response that does not come from an API server, for example the login page of a proxy. It says
// nothing about the request.
type PageError struct {
	// Host is the scheme, host and port of the server that responded.
	Host string
}

// Error returns one line that is equal for equal failures. It contains no part of the response, which may come from any web server.
func (e *PageError) Error() string {
	return "API server " + e.Host + ": the response is not from a Kubernetes API server; check the server in the kubeconfig, " +
		"and any proxies in between"
}

// Retryable returns true, because a proxy may be out of the way the next time.
func (e *PageError) Retryable() bool { return true }

// isFromAPIServer reports whether the body of a successful response is a JSON object with a kind or an API version, as all those of an
// API server are, except for logs. Both are at the beginning.
func isFromAPIServer(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return false
		}
		var s string
		if (name == "kind" || name == "apiVersion") && json.Unmarshal(value, &s) == nil && s != "" {
			return true
		}
	}
	return false
}

// IsOwnershipConflict reports whether an object was not applied because other managers own some of its fields.
func IsOwnershipConflict(err error) bool {
	s := kerrors.APIStatus(nil)
	if !kerrors.IsConflict(err) || !errors.As(err, &s) || s.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(s.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeFieldManagerConflict
	})
}

// IsReplaced reports whether ApplyTo was probably rejected because the object was deleted, which is a conflict, or because it
// has a different UID, which is invalid. Admission can cause other conflicts, so read the object to be sure.
func IsReplaced(err error) bool {
	if kerrors.IsConflict(err) {
		return !IsOwnershipConflict(err)
	}
	s := kerrors.APIStatus(nil)
	if !kerrors.IsInvalid(err) || !errors.As(err, &s) || s.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(s.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// A RefusedError reports that the engine itself refuses an object, as an API server would. It does not indicate a problem with
// the connection.
type RefusedError struct{ Err error }

// Error returns the reason as text.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// IsRefused reports whether the API server or the engine rejects a single object. Any other error means that the cluster or one
// of its webhooks is unreachable or temporarily unavailable.
func IsRefused(err error) bool {
	if r := (*RefusedError)(nil); errors.As(err, &r) {
		return true
	}
	if IsNoKind(err) {
		return true
	}
	s := kerrors.APIStatus(nil)
	if !errors.As(err, &s) {
		return false
	}
	switch code := s.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code < http.StatusInternalServerError && !kerrors.IsTimeout(err) && !kerrors.IsServerTimeout(err) || IsTooLarge(err)
	}
}

// retryable is implemented by errors of sources and connections that know whether a retry might succeed.
type retryable interface {
	error
	// Retryable reports whether a retry might succeed without any change.
	Retryable() bool
}

// IsTransient reports whether an error might disappear without a change to the bundle or the object: the cluster, one of its
// webhooks or the server of a source does not respond, or another client changed the object at the same time.
func IsTransient(err error) bool {
	if r := retryable(nil); errors.As(err, &r) {
		return r.Retryable()
	}
	if kerrors.IsConflict(err) && !IsOwnershipConflict(err) {
		return true
	}
	s := kerrors.APIStatus(nil)
	return errors.As(err, &s) && !IsRefused(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// tooLarge lists the messages of etcd about an object that it cannot store. The API server returns them without a reason.
var tooLarge = []string{"etcdserver: request is too large", "trying to send message larger than max"} //nolint:gochecknoglobals // Constant.

// IsTooLarge reports whether a request failed because an object is larger than the cluster can store. The limit is 3 MiB for a
// request to the API server, and 1.5 MiB for a request to its etcd.
func IsTooLarge(err error) bool {
	return kerrors.IsRequestEntityTooLargeError(err) ||
		slices.ContainsFunc(tooLarge, func(s string) bool { return strings.Contains(err.Error(), s) })
}

// gotValue matches the field value in an API server error about a wrong type. The value may come from a Secret. If the field must
// be a map or a list, the value is not quoted and may span several lines.
var gotValue = regexp.MustCompile(`, got &value\.valueUnstructured\{.*\}|(?s:, got &\{.*\})`)

// Explain returns an error of the API server as one line without values. The result still wraps the error.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		// The caller names the object, so the path is redundant.
		err = u.Err
	}
	if kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		err = errors.Wrap(err, "the namespace is being deleted")
	}
	if IsTooLarge(err) {
		err = errors.Wrap(err, "the object exceeds the size limit of the cluster (about 1.5 MiB as JSON, including the "+
			"fields that the cluster adds); reduce its size")
	}
	if line := text.OneLine(gotValue.ReplaceAllString(err.Error(), "")); line != err.Error() {
		return &lineError{line: line, err: err}
	}
	return err
}

// A lineError wraps an error and replaces its text.
type lineError struct {
	line string
	err  error
}

func (e *lineError) Error() string { return e.line }
func (e *lineError) Unwrap() error { return e.err }
