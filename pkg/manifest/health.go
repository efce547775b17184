// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
)

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

// Interpreter returns what a cluster.Cache for the engine has to know: which objects to watch, and what to keep of them.
func Interpreter() cluster.Interpreter { return health.Interpreter{} }
