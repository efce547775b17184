// SPDX-License-Identifier: Apache-2.0

// Package catalog lists modules: those that the ModuleTemplates of a control plane offer, and those that Kymas have enabled.
package catalog
