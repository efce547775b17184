// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

type (
	// A Bundle contains everything that one module installs in one cluster.
	Bundle = bundle.Bundle
	// An Install describes a Helm chart, plain objects or a kustomization, and how to install it.
	Install = bundle.Install
	// A Form is the format of the content of an install.
	Form = bundle.Form
	// Flags configure Helm's install action for one install. The zero value changes nothing.
	Flags = bundle.Flags
	// A Transform changes objects between rendering and applying.
	Transform = bundle.Transform
	// A Confinement restricts the objects of a bundle.
	Confinement = bundle.Confinement
	// A Rule decides when the objects of a kind are ready.
	Rule = bundle.Rule
	// A DriftPolicy determines what Apply does with objects that another client changed or deleted.
	DriftPolicy = bundle.DriftPolicy
)

// Forms of the content of an install.
const (
	FormChart     = bundle.FormChart
	FormPlain     = bundle.FormPlain
	FormKustomize = bundle.FormKustomize
)

// Policies for drift.
const (
	DriftRepair = bundle.DriftRepair
	DriftReport = bundle.DriftReport
	DriftIgnore = bundle.DriftIgnore
)

// ConfigOf encodes flags as the Config of a Bundle. The keys of the map are the names of the installs.
func ConfigOf(flags map[string]Flags) source.Layer { return bundle.ConfigOf(flags) }

// PreviewOf returns a preview of each part of a bundle, in the order in which the parts are applied. It renders charts as for a
// first install into a cluster of the given version, such as v1.36.3, and lookups find nothing. It returns an error if the
// bundle as a whole is invalid; the Preview of a part contains the error of that part. PreviewOf renders in this process, so
// use it only for content that you trust. To use the Renderer of an Engine, call its method Preview.
func PreviewOf(ctx context.Context, b *Bundle, kubeVersion string) ([]Preview, error) {
	return compose.PreviewOf(ctx, compose.InProcess{}, b, kubeVersion)
}
