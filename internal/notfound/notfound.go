// SPDX-License-Identifier: Apache-2.0

package notfound

import (
	"net/http"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Is says whether an error is the word of an API server that an object does not exist. The object may be another one than
// was asked for, such as the namespace of an object before it is created; see IsObject.
func Is(err error) bool {
	d, ok := details(err)
	return ok && d.Name != ""
}

// IsObject says whether an error is the word of an API server that an object of this name does not exist. The resource is
// the plural name of the kind in a path, or empty where it is not known.
func IsObject(err error, resource, name string) bool {
	d, ok := details(err)
	if !ok || d.Name == "" || d.Name != name {
		return false
	}
	// API servers name the resource; some that are not made of the usual library name the kind, or nothing.
	return d.Kind == "" || resource == "" || d.Kind == resource || strings.HasPrefix(resource, strings.ToLower(d.Kind))
}

// Ignore returns nil where Is says yes, and otherwise the error as Explain returns it.
func Ignore(err error) error {
	if Is(err) {
		return nil
	}
	return Explain(err)
}

// Foreign says whether an error is a 404 that names no object: from a path that an API server does not serve, or from
// something that is not an API server. It proves nothing.
func Foreign(err error) bool {
	if e := (*Error)(nil); errors.As(err, &e) {
		return true
	}
	return kerrors.IsNotFound(err) && !Is(err)
}

// Explain an error. One that is Foreign becomes an *Error, which does not repeat what the answer said; all others are
// returned as they are.
func Explain(err error) error {
	if e := (*Error)(nil); errors.As(err, &e) || !Foreign(err) {
		return err
	}
	return &Error{}
}

// An Error says that 404 was answered in a form in which no API server says that an object does not exist. It does not
// unwrap, so that the reason of what is below counts nowhere.
type Error struct {
	// Host is scheme, host and port of what answered; empty where it is not known.
	Host string
}

// Error is one line that is equal for equal failures. It holds nothing of the answer, which may be the page of anyone.
func (e *Error) Error() string {
	who := "API server"
	if e.Host != "" {
		who += " " + e.Host
	}
	return who + ": 404 Not Found does not come from a Kubernetes API server; check the server of the kubeconfig, " +
		"and the proxies on the way to it"
}

// details of a Status with which an API server said NotFound.
func details(err error) (*metav1.StatusDetails, bool) {
	s := kerrors.APIStatus(nil)
	if !errors.As(err, &s) {
		return nil, false
	}
	st := s.Status()
	if st.Reason != metav1.StatusReasonNotFound || st.Details == nil || (st.Code != 0 && st.Code != http.StatusNotFound) {
		return nil, false
	}
	// It is how client-go marks an answer that was not Status, and whose reason it made of the code.
	for i := range st.Details.Causes {
		if st.Details.Causes[i].Type == metav1.CauseTypeUnexpectedServerResponse {
			return nil, false
		}
	}
	return st.Details, true
}
