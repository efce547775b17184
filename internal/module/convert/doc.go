// SPDX-License-Identifier: Apache-2.0

// Package convert makes ModuleTemplates of ours from those of the original.
package convert
