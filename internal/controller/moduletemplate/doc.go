// SPDX-License-Identifier: Apache-2.0

// Package moduletemplate is the controller of ModuleTemplates. It resolves a template once for each change, and writes to its
// status which version of which module the template provides, and the purpose of each resource of the component. Kymas then
// need no registry.
package moduletemplate
