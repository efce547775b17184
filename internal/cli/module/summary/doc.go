// SPDX-License-Identifier: Apache-2.0

// Package summary describes a module in the JSON and YAML output of commands.
package summary
