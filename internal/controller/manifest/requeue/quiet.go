// SPDX-License-Identifier: Apache-2.0

package requeue

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A QuietError ends a pass over a Manifest that only waits for its turn: the managed reconciler neither writes the status nor
// records an event, and tries again later. For this purpose, the error looks like a conflict.
type QuietError struct{ Err error }

// Error returns the text of the reason.
func (e *QuietError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *QuietError) Unwrap() error { return e.Err }

// Status returns the status of a conflict, for which the managed reconciler reports nothing.
func (e *QuietError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Message: e.Error()}
}
