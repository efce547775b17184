// SPDX-License-Identifier: Apache-2.0

// Package yamldoc reads documents of YAML or JSON, and the Kubernetes objects in them. It never ignores content: text
// after a document and duplicate keys are errors. It bounds the size of the result.
package yamldoc
