// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An Identity contains the names that an Engine uses in clusters.
type Identity = object.Identity

// Defaults of an Identity.
const (
	DefaultFieldManager = object.DefaultFieldManager
	DefaultManagedBy    = object.DefaultManagedBy
)

// WithIdentity sets the identity of an Engine. The default is the identity of the provider. Connections must watch for the same
// identity, so pass it to connect.WithIdentity, too. Do not change it while a bundle is installed.
func WithIdentity(i Identity) Option {
	return func(e *Engine) { e.identity = i }
}

// Interpreter returns the interpreter for the cluster.Cache of an Engine with these options. It determines which objects the
// cache watches and what it keeps of them. Interpreters of equal identities are equal.
func Interpreter(o ...Option) cluster.Interpreter {
	e := &Engine{identity: object.DefaultIdentity()}
	for _, fn := range o {
		fn(e)
	}
	return e.interpreter()
}
