// SPDX-License-Identifier: Apache-2.0

// Package provider has the specs of the provider as a process: its start, its connections, its metrics, and that it is
// quiet at rest.
package provider
