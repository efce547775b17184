// SPDX-License-Identifier: Apache-2.0

package notfound

import (
	"net/http"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Is reports whether an error is the confirmation of an API server that an object does not exist. The object may differ
// from the requested one: for example, it is the namespace if an object is created in a missing namespace. See IsObject.
func Is(err error) bool {
	d, ok := details(err)
	return ok && d.Name != ""
}

// IsObject reports whether an error is the confirmation of an API server that the object with this name does not exist.
// The resource is the plural name of the kind in a path, or empty if it is not known.
func IsObject(err error, resource, name string) bool {
	d, ok := details(err)
	if !ok || d.Name == "" || d.Name != name {
		return false
	}
	// API servers name the resource, but some that do not use the Kubernetes libraries name the kind, or nothing.
	return d.Kind == "" || resource == "" || d.Kind == resource || strings.HasPrefix(resource, strings.ToLower(d.Kind))
}

// Ignore returns nil if Is is true for the error, and otherwise the result of Explain.
func Ignore(err error) error {
	if Is(err) {
		return nil
	}
	return Explain(err)
}

// Foreign reports whether an error is a 404 that names no object. It comes from a path that an API server does not serve,
// or from another server. It does not prove that an object is missing.
func Foreign(err error) bool {
	if e := (*Error)(nil); errors.As(err, &e) {
		return true
	}
	return kerrors.IsNotFound(err) && !Is(err)
}

// Explain converts an error for which Foreign is true to an *Error, which does not contain the text of the response. It
// returns all other errors unchanged.
func Explain(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) || !Foreign(err) {
		return err
	}
	return &Error{}
}

// An Error reports a 404 response that does not have the form in which API servers report a missing object. It does not
// unwrap, so that the reason of the underlying error has no effect.
type Error struct {
	// Host is the scheme, host and port of the server that responded, or empty if they are not known.
	Host string
}

// Error returns one line that is equal for equal failures. It contains no part of the response, which may come from any
// web server.
func (e *Error) Error() string {
	who := "API server"
	if e.Host != "" {
		who += " " + e.Host
	}
	return who +
		": the 404 Not Found response is not from a Kubernetes API server; check the server in the kubeconfig, and any proxies in between"
}

// details returns the details of a Status with which an API server reported NotFound.
func details(err error) (*metav1.StatusDetails, bool) {
	s := kerrors.APIStatus(nil)
	if !errors.As(err, &s) {
		return nil, false
	}
	st := s.Status()
	if st.Reason != metav1.StatusReasonNotFound || st.Details == nil || (st.Code != 0 && st.Code != http.StatusNotFound) {
		return nil, false
	}
	// client-go adds this cause to a response that is not a Status, and derives the reason from the status code.
	for i := range st.Details.Causes {
		if st.Details.Causes[i].Type == metav1.CauseTypeUnexpectedServerResponse {
			return nil, false
		}
	}
	return st.Details, true
}
