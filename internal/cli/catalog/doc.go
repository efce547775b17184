// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the modules that the ModuleTemplates of a control plane offer, and the modules that Kymas have enabled.
package catalog
