// SPDX-License-Identifier: Apache-2.0

// Package cloud gets credentials for the registries of AWS, Azure and Google Cloud from the identity of this process
// there: the identity of its pod, of its machine, or of its environment.
//
// It uses an identity only for registry hosts of the same cloud, never for other hosts in a configuration.
package cloud
