// SPDX-License-Identifier: Apache-2.0

// Package kyma is the controller of Kymas. The external resource of a Kyma is its set of Manifests, one for each module.
// The Kyma and the resolved ModuleTemplates determine the desired Manifests, so that a reconcile reads only from caches and
// writes only what differs.
//
// The controller follows fluxcd/helm-controller: plan one step for each module, act, then report.
//
//   - store.go reads the control plane.
//   - plan.go plans one step for each module: template.go selects its ModuleTemplate, and desired.go returns the
//     whole desired Manifest.
//   - write.go applies it with server-side apply, as one field manager, or removes it.
//   - external.go contains the hooks of the managed reconciler.
//   - propagate.go covers the cases in which the managed reconciler does not call these hooks.
//
// See docs/decisions/0029-the-kyma-controller.md.
package kyma
