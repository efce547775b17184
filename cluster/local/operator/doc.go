// SPDX-License-Identifier: Apache-2.0

// Package operator replaces the operators of the demo's modules, which cannot run without containers. Like them, it
// reports the state of each module's custom resources, based on the Deployment of the module and the spec of the custom
// resource.
package operator
