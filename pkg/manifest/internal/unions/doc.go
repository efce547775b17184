// SPDX-License-Identifier: Apache-2.0

// Package unions finds leftover union members in a live object: fields that conflict with another member of the same union in the
// desired object.
//
// In a union of the Kubernetes API, only one of several fields may be set. Server-side apply removes fields that its manager owns
// and no longer applies, but not fields that the API server set as defaults and no manager owns. The API server then refuses the
// object because two members of one union are set. The package contains a table of the unions that are affected, and sends no
// requests.
package unions
