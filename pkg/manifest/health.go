// SPDX-License-Identifier: Apache-2.0

package manifest

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"

// A State is the state of a bundle, or of a part of it.
type State = health.State

// States in the order of their urgency, the most urgent last.
const (
	Ready      = health.Ready
	Processing = health.Processing
	Warning    = health.Warning
	Error      = health.Error
	Deleting   = health.Deleting
)
