// SPDX-License-Identifier: Apache-2.0

// Package convert converts ModuleTemplates, Kymas and Manifests of Kyma's lifecycle manager, called the original here,
// to those of this provider. It never drops a field silently: it lists the field as lost, or returns an error that
// names it.
package convert
