// SPDX-License-Identifier: Apache-2.0

// Package yamldoc reads documents of YAML or JSON, and the Kubernetes objects in
// them. Nothing of a text is ignored: what follows a document, or a key that is
// there twice, is an error. What documents become is bounded.
package yamldoc
