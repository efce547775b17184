// SPDX-License-Identifier: Apache-2.0

// Package sources has the specs of the sources of charts, kustomizations and YAML, compared with Helm, and of signatures.
package sources
