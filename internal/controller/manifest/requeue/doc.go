// SPDX-License-Identifier: Apache-2.0

// Package requeue adds Manifests to the queue of their controller: after changes of their objects in target clusters, when
// their cluster can be used again, and after a delay. It also suppresses the reporting of errors that only mean that a Manifest
// waits.
package requeue
