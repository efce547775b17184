// SPDX-License-Identifier: Apache-2.0

// Package bundle opens modules in a registry or in an image layout, and lists what they contain and what they would
// install.
package bundle
