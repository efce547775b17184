// SPDX-License-Identifier: Apache-2.0

// Package config reads the ProviderConfig of a managed resource with all Secrets that it names, and counts who uses it.
package config
