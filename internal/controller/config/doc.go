// SPDX-License-Identifier: Apache-2.0

// Package config reads the ProviderConfig of a managed resource with all Secrets that it names, counts who uses it, and reports
// whether its cluster can be used.
package config
