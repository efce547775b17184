// SPDX-License-Identifier: Apache-2.0

// Package config reads the ProviderConfig of a managed resource with all Secrets that it names, counts its users, and reports
// whether its cluster is reachable.
package config
