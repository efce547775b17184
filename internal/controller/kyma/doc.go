// SPDX-License-Identifier: Apache-2.0

// Package kyma is the controller of Kymas. The external resource of a Kyma is its set of Manifests, one for each module:
// what is wanted follows from the Kyma and from the ModuleTemplates, which are resolved already, so that a pass reads
// from caches only, and writes only what differs.
//
// Model, after fluxcd/helm-controller: plan (one step for each module), then act, then report.
package kyma
