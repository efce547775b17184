// SPDX-License-Identifier: Apache-2.0

package manifest

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"

// A State is the state of a part of a bundle, or of the whole bundle.
type State = health.State

// The states in the order of their urgency, the most urgent last.
const (
	Ready      = health.Ready
	Processing = health.Processing
	Warning    = health.Warning
	Error      = health.Error
	Deleting   = health.Deleting
)
