// SPDX-License-Identifier: Apache-2.0

// Package config reads the config layer of a bundle, which has for each install the flags of Helm's install action,
// and values in the grammar of helm --set.
package config
