// SPDX-License-Identifier: Apache-2.0

// Package lookup finds Kymas and their Manifests in a control plane, and says
// what to do where there are none.
package lookup
