// SPDX-License-Identifier: Apache-2.0

// Package redact keeps the values of Secrets out of texts. Templates, API servers and hooks quote the values that they
// get, so a controller passes each text through a Redactor where the text leaves it: before it is set in a status,
// recorded as an event or returned as an error, and before it is cut to a length.
package redact
