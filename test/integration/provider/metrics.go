// SPDX-License-Identifier: Apache-2.0

package provider

// Metrics of the provider.
const (
	targetConnections = "provider_kyma_target_connections"
)
