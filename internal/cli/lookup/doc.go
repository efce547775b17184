// SPDX-License-Identifier: Apache-2.0

// Package lookup finds Kymas and their Manifests in a control plane. Its errors say what to do if there are none.
package lookup
