// SPDX-License-Identifier: Apache-2.0

// Package bundle opens modules where they lie, in a registry or in an image
// layout, and says what they hold and what they would install.
package bundle
