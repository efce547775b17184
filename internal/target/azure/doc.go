// SPDX-License-Identifier: Apache-2.0

// Package azure authenticates to clusters with service principals and workload identities of Microsoft Entra ID.
package azure
