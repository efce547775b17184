// SPDX-License-Identifier: Apache-2.0

// Package kyma is the controller of Kymas. The external resource of a Kyma is its set of Manifests, one for each module.
// The Kyma and the resolved ModuleTemplates determine the desired Manifests, so that a reconcile reads only from caches and
// writes only what differs.
//
// The controller follows fluxcd/helm-controller: plan one step for each module, act, then report.
//
//   - plan.go plans one step for each module, and desired.go returns its whole desired Manifest.
//   - store.go reads the control plane. apply.go applies a desired Manifest with server-side apply, as one field manager, and
//     remove.go removes a Manifest.
//   - external.go has the hooks of the managed reconciler.
//   - propagate.go covers the cases in which the managed reconciler does not call these hooks.
//
// See docs/decisions/0029-the-kyma-controller.md.
package kyma
