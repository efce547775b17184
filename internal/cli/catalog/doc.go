// SPDX-License-Identifier: Apache-2.0

// Package catalog says which modules there are: what the ModuleTemplates of a
// control plane offer, and what Kymas have enabled of it.
package catalog
