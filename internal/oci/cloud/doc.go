// SPDX-License-Identifier: Apache-2.0

// Package cloud gets credentials for the registries of AWS, Azure and Google
// Cloud from the identity that this process has there: that of its pod, of its
// machine, or of its environment.
//
// An identity is only used for hosts of its cloud, and never for others that a
// configuration names.
package cloud
