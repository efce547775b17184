// SPDX-License-Identifier: Apache-2.0

// Package api tests the CustomResourceDefinitions in package/crds against a real
// API server: every rule of a schema is broken once, and the server must refuse
// with the text that users read. A rule without a case fails, and so does a case
// whose rule is gone.
package api
