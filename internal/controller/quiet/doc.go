// SPDX-License-Identifier: Apache-2.0

// Package quiet keeps writes that change nothing from the API server. crossplane-runtime updates the status of a managed
// resource in each pass; with thousands of them at rest that would be most of the load. And it reads what it has written.
package quiet
