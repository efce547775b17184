// SPDX-License-Identifier: Apache-2.0

// Package provider has the specs of the provider as a process: its start, its connections and its metrics, and that it sends
// nothing at rest.
package provider
