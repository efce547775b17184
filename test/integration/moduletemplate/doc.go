// SPDX-License-Identifier: Apache-2.0

// Package moduletemplate has the specs of a ModuleTemplate.
package moduletemplate
