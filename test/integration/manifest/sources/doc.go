// SPDX-License-Identifier: Apache-2.0

// Package sources has the specs of where charts, kustomizations and YAML come from, compared with Helm, and of signatures.
package sources
