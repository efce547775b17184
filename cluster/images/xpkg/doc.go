// SPDX-License-Identifier: Apache-2.0

// Package xpkg builds the Crossplane packages of the provider and of the configuration with Crossplane's command line, and returns
// them as they are in a registry after a push.
package xpkg
