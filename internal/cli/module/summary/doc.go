// SPDX-License-Identifier: Apache-2.0

// Package summary is what commands say of a module, as JSON and YAML.
package summary
