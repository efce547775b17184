// SPDX-License-Identifier: Apache-2.0

// Package charts embeds the Helm chart of the provider, which kymactl installs.
package charts
