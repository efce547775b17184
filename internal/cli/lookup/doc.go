// SPDX-License-Identifier: Apache-2.0

// Package lookup finds Kymas and their Manifests in a control plane. Its errors name a remedy if there are none.
package lookup
