// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

type (
	// A Bundle is all that one module wants in one cluster.
	Bundle = bundle.Bundle
	// An Install is a Helm chart, plain objects or a kustomization, and how to install it.
	Install = bundle.Install
	// A Form says what the content of an install is.
	Form = bundle.Form
	// Flags of Helm's install action for one install. The zero value changes nothing.
	Flags = bundle.Flags
	// A Transform changes objects after they were rendered and before they are applied.
	Transform = bundle.Transform
	// A Rule says when the objects of a kind are ready.
	Rule = bundle.Rule
	// A DriftPolicy says what Apply does about objects that another client changed or deleted.
	DriftPolicy = bundle.DriftPolicy
)

// The forms of content.
const (
	FormChart     = bundle.FormChart
	FormPlain     = bundle.FormPlain
	FormKustomize = bundle.FormKustomize
)

// The policies for drift.
const (
	DriftRepair = bundle.DriftRepair
	DriftReport = bundle.DriftReport
	DriftIgnore = bundle.DriftIgnore
)

// ConfigOf returns the flags of installs, by their names, as the Config of a Bundle.
func ConfigOf(flags map[string]Flags) source.Layer { return bundle.ConfigOf(flags) }

// PreviewOf returns the previews of the parts of a bundle in the order in which they are applied. It renders charts as for a first
// install into a cluster of a version, such as v1.36.3, in which nothing can be looked up. The error is about the bundle as a
// whole.
func PreviewOf(ctx context.Context, b *Bundle, kubeVersion string) ([]Preview, error) {
	return compose.PreviewOf(ctx, b, kubeVersion)
}
