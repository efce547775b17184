// SPDX-License-Identifier: Apache-2.0

// Package api tests the CustomResourceDefinitions in package/crds against a real API server: every rule of a schema is broken
// once, and the server must reject the object with the text that users read. The tests fail for a rule without a case, and for
// a case without a rule.
package api
