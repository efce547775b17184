// SPDX-License-Identifier: Apache-2.0

// Package moduletemplate resolves ModuleTemplates: it says in their status which version of which module they stand for,
// and what each resource of the component is to the module. That is done once for each change, so that Kymas need no
// registry.
package moduletemplate
