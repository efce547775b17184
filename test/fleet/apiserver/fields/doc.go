// SPDX-License-Identifier: Apache-2.0

// Package fields merges objects as server-side apply does, and keeps their managedFields. It uses the same library as a real API
// server.
package fields
