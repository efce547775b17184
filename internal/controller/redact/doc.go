// SPDX-License-Identifier: Apache-2.0

// Package redact keeps the values of Secrets out of texts. Templates, API servers and hooks quote the values that they get,
// so a controller redacts each text when the text leaves it: before it is set in a status, recorded as an event or returned
// as an error, and before it is truncated.
package redact
