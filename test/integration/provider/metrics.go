// SPDX-License-Identifier: Apache-2.0

package provider

// Names of metrics of the provider.
const (
	targetConnections = "provider_kyma_target_connections"
)
