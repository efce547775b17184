// SPDX-License-Identifier: Apache-2.0

// Package await follows objects of a control plane until they are as they should
// be: a Kyma that is Ready or gone, modules that are, or what a verdict asks for.
package await
