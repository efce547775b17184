// SPDX-License-Identifier: Apache-2.0

// Package unions changes objects from one member of a union of the Kubernetes API to another one and back, with the engine and
// with the real helm, against a real API server, and compares the results.
package unions
