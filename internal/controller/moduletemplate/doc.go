// SPDX-License-Identifier: Apache-2.0

// Package moduletemplate is the controller of ModuleTemplates. It resolves a template once for each change, and writes into its
// status which version of which module it stands for, and what the module uses each resource of the component for. Kymas then
// need no registry.
package moduletemplate
