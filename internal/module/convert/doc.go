// SPDX-License-Identifier: Apache-2.0

// Package convert makes ModuleTemplates, Kymas and Manifests of ours from those
// of the original. What has no place here is never left out silently: it is
// listed, or it is an error that names the field.
package convert
